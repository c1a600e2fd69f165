"""What is kept: observations and baselines in DuckDB and Parquet. The only SQL stands here."""
