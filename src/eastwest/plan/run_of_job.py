"""A training job of a site as the step model reads it; the functions live beside that model."""

from eastwest.simulate.analytic.run_of_job import PLAIN, rates_beside, run_of_job, table_of_run, wish_of

__all__ = ["PLAIN", "rates_beside", "run_of_job", "table_of_run", "wish_of"]
