"""Dashboards as tables, and what Grafana reads of them.

A file of tables/ says what a dashboard shows; Dashboard.json() is its JSON
model, as Grafana 10 and later take it from a provisioned folder.
"""

import dataclasses

# Grafana 10.0's; later releases migrate it when they load it.
SCHEMA_VERSION = 38
COLUMNS = 24
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
# What Grafana calls the units that are used.
UNITS = {
    "bytes": "bytes",
    "bytes/s": "Bps",
    "celsius": "celsius",
    "count": "short",
    "cores": "short",
    "devices": "short",
    "nats": "short",
    "per hour": "short",
    "per second": "ops",
    "seconds": "s",
    "share": "percentunit",
    "tokens/s": "short",
    "watts": "watt",
}


@dataclasses.dataclass(frozen=True)
class Variable:
    """A choice above the dashboard: the values of a label of a metric."""
    name: str
    metric: str

    def json(self):
        query = "label_values(%s, %s)" % (self.metric, self.name)
        return {
            "type": "query",
            "name": self.name,
            "label": self.name.capitalize(),
            "datasource": DATASOURCE,
            "definition": query,
            "query": {"qryType": 1, "query": query, "refId": self.name},
            "refresh": 2,
            # By the alphabet.
            "sort": 1,
            "regex": "",
            "multi": True,
            "includeAll": True,
            "allValue": ".*",
            "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
            "options": [],
            "hide": 0,
            "skipUrlSync": False,
        }


QUEUE = Variable("queue", "ordo_scheduler_queue_depth_jobs")
WORKER = Variable("worker", "ordo_worker_running_attempts")
DEVICE = Variable("device",
                  'ordo_worker_training_steps_total{worker=~"$worker"}')


@dataclasses.dataclass(frozen=True)
class Panel:
    """One picture.

    `queries` are (PromQL, legend) pairs; a legend may name labels, `{{queue}}`.
    `runbook` is a page of docs/runbooks, `limit` the value from which it counts
    as bad: that of the alert. `below`: it is bad below it.
    """
    title: str
    unit: str
    queries: list
    description: str
    kind: str = "timeseries"
    runbook: str = ""
    limit: float = None
    below: bool = False
    stacked: bool = False
    log: bool = False

    @property
    def width(self):
        return 4 if self.kind == "stat" else 8

    @property
    def height(self):
        return 4 if self.kind == "stat" else 8

    def _thresholds(self):
        bad, good = {"color": "red"}, {"color": "green"}
        if self.limit is None:
            steps = [good]
        else:
            steps = [bad, good] if self.below else [good, bad]
            steps[1]["value"] = self.limit
        steps[0]["value"] = None
        return {"mode": "absolute", "steps": steps}

    def _custom(self):
        scale = {"type": "log", "log": 10} if self.log else {"type": "linear"}
        return {
            "drawStyle": "line",
            "lineInterpolation": "linear",
            "lineWidth": 1,
            "fillOpacity": 30 if self.stacked else 5,
            "showPoints": "auto",
            "spanNulls": False,
            "axisPlacement": "auto",
            "axisLabel": self.unit,
            "scaleDistribution": scale,
            "stacking": {
                "mode": "normal" if self.stacked else "none",
                "group": "A"
            },
            "thresholdsStyle": {
                "mode": "off" if self.limit is None else "line"
            },
        }

    def _options(self):
        if self.kind == "stat":
            return {
                "reduceOptions": {
                    "values": False,
                    "calcs": ["lastNotNull"],
                    "fields": ""
                },
                "orientation": "auto",
                "textMode": "auto",
                "colorMode": "value",
                "graphMode": "area",
                "justifyMode": "auto",
            }
        return {
            "legend": {
                "displayMode": "table",
                "placement": "bottom",
                "showLegend": True,
                "calcs": ["lastNotNull", "max"],
            },
            "tooltip": {"mode": "multi", "sort": "desc"},
        }

    def json(self, number, x, y):
        defaults = {
            "unit": UNITS[self.unit],
            "mappings": [],
            "thresholds": self._thresholds(),
            "color": {
                "mode": "thresholds"
                        if self.kind == "stat" else "palette-classic"
            },
        }
        if self.kind == "timeseries":
            defaults["custom"] = self._custom()
            if not self.log:
                defaults["min"] = 0
        links = []
        if self.runbook:
            links = [{
                "title": "Runbook",
                "url": "${docs}/runbooks/%s.html" % self.runbook,
                "targetBlank": True,
            }]
        return {
            "id": number,
            "type": self.kind,
            "title": self.title,
            "description": self.description,
            "datasource": DATASOURCE,
            "gridPos": {"x": x, "y": y, "w": self.width, "h": self.height},
            "fieldConfig": {"defaults": defaults, "overrides": []},
            "options": self._options(),
            "links": links,
            "targets": [{
                "refId": chr(ord("A") + index),
                "datasource": DATASOURCE,
                "editorMode": "code",
                "expr": expression,
                "legendFormat": legend,
                "range": True,
                "instant": False,
            } for index, (expression, legend) in enumerate(self.queries)],
        }


@dataclasses.dataclass(frozen=True)
class Row:
    """Panels below a heading."""
    title: str
    panels: list


@dataclasses.dataclass(frozen=True)
class Dashboard:
    """What a file of tables/ defines; `name` is that of the JSON file."""
    name: str
    title: str
    description: str
    rows: list
    variables: list = dataclasses.field(default_factory=list)

    def _panels(self):
        panels = []
        y = 0
        for row in self.rows:
            panels.append({
                "id": len(panels) + 1,
                "type": "row",
                "title": row.title,
                "collapsed": False,
                "gridPos": {"x": 0, "y": y, "w": COLUMNS, "h": 1},
                "panels": [],
            })
            y += 1
            x = height = 0
            for panel in row.panels:
                if x + panel.width > COLUMNS:
                    x, y, height = 0, y + height, 0
                panels.append(panel.json(len(panels) + 1, x, y))
                x += panel.width
                height = max(height, panel.height)
            y += height
        return panels

    def _templating(self):
        return [{
            "type": "datasource",
            "name": "datasource",
            "label": "Prometheus",
            "query": "prometheus",
            "regex": "",
            "refresh": 1,
            "multi": False,
            "includeAll": False,
            "current": {},
            "options": [],
            "hide": 0,
            "skipUrlSync": False,
        }, {
            # Where the documentation is served, for links to runbooks.
            "type": "textbox",
            "name": "docs",
            "label": "Documentation",
            "query": "http://127.0.0.1:8000",
            "current": {
                "selected": True,
                "text": "http://127.0.0.1:8000",
                "value": "http://127.0.0.1:8000"
            },
            "options": [],
            "hide": 0,
            "skipUrlSync": False,
        }] + [variable.json() for variable in self.variables]

    def json(self):
        return {
            "uid": "ordo-" + self.name.replace("_", "-"),
            "title": self.title,
            "description": self.description,
            "tags": ["ordo"],
            "schemaVersion": SCHEMA_VERSION,
            "version": 1,
            "editable": True,
            "graphTooltip": 1,
            "timezone": "browser",
            "time": {"from": "now-6h", "to": "now"},
            "refresh": "30s",
            "fiscalYearStartMonth": 0,
            "weekStart": "",
            "liveNow": False,
            "links": [{
                "type": "dashboards",
                "title": "Ordo",
                "tags": ["ordo"],
                "asDropdown": True,
                "includeVars": True,
                "keepTime": True,
                "targetBlank": False,
                "icon": "external link",
                "tooltip": "",
                "url": "",
            }],
            "annotations": {
                "list": [{
                    "name": "Alerts",
                    "datasource": DATASOURCE,
                    "enable": True,
                    "hide": False,
                    "iconColor": "red",
                    "expr": 'ALERTS{alertname=~"Ordo.+", alertstate="firing"}',
                    "titleFormat": "{{alertname}}",
                    "textFormat": "{{worker}} {{device}} {{queue}}",
                    "step": "60s",
                }]
            },
            "templating": {"list": self._templating()},
            "panels": self._panels(),
        }
