"""What was learnt from the labels: its suggestions at present, and when it is learnt again."""
