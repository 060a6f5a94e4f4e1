"""The HTTP interface: decodes requests, calls services, encodes answers."""
