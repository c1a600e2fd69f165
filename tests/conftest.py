"""Settings for the whole suite: property tests draw the same examples on every machine and keep no files."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "house",
    deadline=None,  # no test judges time; speed lives in benchmarks/
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("house")
