"""Tables that grow: where the rows come from, batches of new rows, and questions about them."""
