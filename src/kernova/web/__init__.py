"""Web page of a discovery project: HTTP interface of the workbench and its static files."""
