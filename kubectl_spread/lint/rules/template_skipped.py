"""A Go template was not checked.

A chart's template is no YAML until it is rendered, so nothing in the file was looked at. One line a file says so, as a
file that is skipped in silence looks like one without faults.

Check what it renders to: `helm template shop charts/shop | kubectl spread check -`.
"""
