"""How every device must behave, vendor-neutral: loss regime, classes, switch and host settings, with the reason of
every value.
"""

from eastwest.policy.class_path import ClassPath, class_path, dangling
from eastwest.policy.classes import TrafficClass
from eastwest.policy.derive import derive
from eastwest.policy.noun import Policy
from eastwest.policy.settings import DeviceSettings, PortSettings
from eastwest.policy.settings_host import HostSettings, NicSettings
from eastwest.policy.settings_subnet import SubnetSettings

__all__ = [
    "ClassPath",
    "DeviceSettings",
    "HostSettings",
    "NicSettings",
    "Policy",
    "PortSettings",
    "SubnetSettings",
    "TrafficClass",
    "class_path",
    "dangling",
    "derive",
]
