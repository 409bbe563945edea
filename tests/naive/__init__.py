"""The scheduler once more, slowly: plain loops over plain dicts, one function per function of kube-scheduler.

It shares no code with the scheduler under test, so that both are wrong in the same way only by accident. Modules
and functions are named for their Go originals; classes are plug-ins, methods their extension points.
"""
