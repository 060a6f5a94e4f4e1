"""The store over SQLite and PostgreSQL; the only place that knows SQLModel."""
