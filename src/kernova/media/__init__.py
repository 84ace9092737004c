"""Media of rows: pictures, sounds and outlines, and the tables that come with them."""
