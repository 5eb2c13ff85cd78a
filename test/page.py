# SPDX-License-Identifier: MIT
"""What a browser makes of the page of examples/metrics-server.

page.py URL SERVER-PID TO-BROWSER FROM-BROWSER [SCREENSHOT]

Within a few seconds both charts have lines, with points that are within the
chart and go on from left to right; all numbers are there, with their units; the
rates are those that /metrics tells; no text lies on another.  When the server
ends, the page says so.  The page loads nothing from elsewhere, and none of its
code fails.

The browser is spoken to in the DevTools protocol: JSON, each message with a
zero byte at its end.
"""
import base64
import json
import os
import re
import signal
import sys
import time
import urllib.request

PATIENCE = 60
POINTS = 6

LOOK = """(() => {
	if (document.readyState !== 'complete')
		return null;
	const text = {}, lines = {};
	for (const output of document.querySelectorAll('output, #name, #state'))
		text[output.id] = output.textContent;
	for (const line of document.querySelectorAll('polyline'))
		lines[line.id] = Array.from(line.points, p => [p.x, p.y]);
	const labels = Array.from(document.querySelectorAll('svg'), svg =>
		Array.from(svg.querySelectorAll('text'), t => {
			const r = t.getBoundingClientRect();
			return [t.textContent, r.left, r.top, r.right, r.bottom];
		}));
	const loaded = performance.getEntriesByType('resource').map(e => e.name);
	return {text, lines, labels, loaded, width: innerWidth,
		scroll: document.documentElement.scrollWidth};
})()"""


class Browser:
    def __init__(self, to_path, from_path):
        self.to = open(to_path, 'wb', buffering=0)
        self.source = open(from_path, 'rb')
        self.last = 0
        self.rest = b''
        self.errors = []
        self.session = None

    def receive(self):
        while b'\0' not in self.rest:
            more = os.read(self.source.fileno(), 1 << 16)
            assert more, 'the browser has ended'
            self.rest += more
        message, self.rest = self.rest.split(b'\0', 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.last += 1
        request = {'id': self.last, 'method': method, 'params': parameters}
        if self.session:
            request['sessionId'] = self.session
        self.to.write(json.dumps(request).encode() + b'\0')
        while True:
            answer = self.receive()
            if answer.get('id') == self.last:
                # While a page opens there may be nothing to look at.
                assert ('error' not in answer or
                        method == 'Runtime.evaluate'), answer
                return answer.get('result', {})
            if answer.get('method') == 'Runtime.exceptionThrown':
                self.errors.append(answer['params'])

    def open(self, url):
        target = self.call('Target.createTarget', url='about:blank')
        self.session = self.call('Target.attachToTarget', flatten=True,
                                 targetId=target['targetId'])['sessionId']
        self.call('Runtime.enable')
        self.call('Page.navigate', url=url)

    def evaluate(self, expression):
        answer = self.call('Runtime.evaluate', expression=expression,
                           returnByValue=True)
        assert 'exceptionDetails' not in answer, answer
        return answer.get('result', {}).get('value')

    def look_until(self, what, good):
        end = time.monotonic() + PATIENCE
        while True:
            seen = self.evaluate(LOOK)
            assert not self.errors, self.errors
            if seen and good(seen):
                return seen
            assert time.monotonic() < end, f'waited for {what}: {seen}'
            time.sleep(.1)

    def screenshot(self, path):
        answer = self.call('Page.captureScreenshot')
        with open(path, 'wb') as file:
            file.write(base64.b64decode(answer['data']))


def read(url):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url + 'metrics', timeout=PATIENCE) as answer:
        text = answer.read().decode()
    numbers = re.findall(r'^timerthread_(\w+)\{name="[^"]*"\} (\S+)$', text,
                         re.MULTILINE)
    return time.monotonic(), {name: float(value) for name, value in numbers}


# Four durations came between the two moments, of 1 to 2 seconds; then two more,
# of more than that.
QUANTILES = """(() => {
	const counts = (...n) =>
		n.map((n, i) => ({limit: [1, 2, Infinity][i], n}));
	const first = counts(10, 10, 10);
	return [quantile(.5, first, counts(10, 14, 14)),
		quantile(1, first, counts(10, 14, 14)),
		quantile(1, first, counts(10, 14, 16)),
		quantile(.5, first, first) ?? 'none'];
})()"""


def check_quantiles(browser):
    answers = browser.evaluate(QUANTILES)
    assert answers == [1.5, 2, 2, 'none'], answers


def check_lines(lines, took):
    for name, points in lines.items():
        for i, (x, y) in enumerate(points):
            # Where the axes are, and rounding.
            assert 80 <= x <= 700.1 and 9.9 <= y <= 210.1, (name, points)
            assert i == 0 or x > points[i - 1][0], (name, points)
        # Sixty seconds from left to right, and a point each half second.
        span = (points[-1][0] - points[0][0]) / (700 - 80) * 60
        assert (len(points) - 1) * .5 - .03 < span < took, (took, points)
        # The load changes all the time.
        assert name != 'scheduled-line' or len({y for x, y in points}) > 1, \
            points


def check_labels(labels):
    units = [' (us|ms|s)', '/s']
    for chart, unit in zip(labels, units):
        # The last seven are those of the seconds.
        assert len(chart) >= 3 + 7, chart
        for label in chart[:-7]:
            assert re.fullmatch(r'[\d.,]+' + unit, label[0]), chart
        for label in chart[-7:]:
            assert re.fullmatch(r'-\d+ s|now', label[0]), chart
    for chart in labels:
        for i, (text, left, top, right, bottom) in enumerate(chart):
            for other in chart[:i]:
                assert (right < other[1] or other[3] < left or
                        bottom <= other[2] or other[4] <= top), (text, other)


def seconds(text):
    number, unit = text.split()
    return float(number) * {'us': 1e-6, 'ms': 1e-3, 's': 1}[unit]


def check_text(text, before, after):
    took = after[0] - before[0]
    assert text['name'] == 'metrics-timers', text
    for name in 'p50', 'p99', 'slowest':
        assert re.fullmatch(r'\d[\d.]* (us|ms|s)', text[name]), text
    # None is early; and no machine is as late as that for long.
    assert 0 < seconds(text['p50']) <= seconds(text['p99']) < 60, text
    assert re.fullmatch(r'[\d,]+ KiB', text['memory']), text
    assert re.fullmatch(r'[\d,]+', text['pending']), text
    for name, metric in (('scheduled', 'scheduled_timers_total'),
                         ('cancelled', 'cancelled_timers_total'),
                         ('fired', 'fired_callbacks_total')):
        shown = float(text[name].replace(',', ''))
        real = (after[1][metric] - before[1][metric]) / took
        # The load changes, as the machine's does.
        assert real / 8 < shown < real * 8, (name, real, text)


def main(url, server, to_path, from_path, screenshot=''):
    browser = Browser(to_path, from_path)
    before = read(url)
    browser.open(url)
    seen = browser.look_until('points', lambda seen: len(seen['lines']) == 5 and
                              all(len(points) >= POINTS
                                  for points in seen['lines'].values()) and
                              seen['text']['p50'] != 'none')
    after = read(url)
    if screenshot:
        browser.look_until('a full chart', lambda seen:
                           len(seen['lines']['p50-line']) > 80)
        browser.screenshot(screenshot)
    check_lines(seen['lines'], after[0] - before[0])
    check_quantiles(browser)
    check_labels(seen['labels'])
    check_text(seen['text'], before, after)
    for name in seen['loaded']:
        assert name == url + 'metrics' or name.startswith('data:'), name
    assert seen['scroll'] <= seen['width'], seen
    os.kill(int(server), signal.SIGTERM)
    browser.look_until('an end', lambda seen:
                       seen['text']['state'].startswith('No numbers'))
    print('the charts have', {name: len(points) for name, points in
                              seen['lines'].items()}, 'points, and show',
          seen['text'])
    browser.session = None
    browser.call('Browser.close')


main(*sys.argv[1:])
