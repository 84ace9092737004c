"""Messages outside of the table in ``test_bad_input``, whole."""

NO_SHARE = (
    "An explanation has the columns 'row', 'feature', 'value', 'ordinary_value', 'share', "
    "'nearest'; missing are 'share'."
)
