"""The learnt model: its suggestions at present, and when it is learnt again."""
