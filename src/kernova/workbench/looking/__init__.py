"""Views of rows beside the question: rows compared side by side, and the table of all rows.

:mod:`~kernova.workbench.looking.comparing` aligns the values of a few rows;
:mod:`~kernova.workbench.looking.listing` sorts, filters and pages through all of them.
"""
