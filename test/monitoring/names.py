# SPDX-License-Identifier: MIT
"""
names.py PAGE RULES TESTS DASHBOARD MANUAL EXPRESSIONS

Reads the rules and the dashboard: each metric and label that they use is in
PAGE, which timerthread_format_metrics has written; each page of the manual that
they name is there; each alert has a test.  Writes EXPRESSIONS: rules for
promtool, one for each expression of the dashboard.
"""
import json
import os
import re
import sys

wrong = []


def check(ok, what):
    if not ok:
        wrong.append(what)


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def samples(page):
    """The names of samples, and of their labels."""
    names, labels = set(), set()
    for line in page.splitlines():
        if not line.startswith('#'):
            names.add(re.match(r'\w+', line)[0])
            labels.update(re.findall(r'[{,](\w+)="', line))
    return names, labels


def check_names(text, where, names):
    """A name that ( follows is a function of the library."""
    for name in re.findall(r'\btimerthread_\w+\b(?!\()', text):
        check(name in names, f'{where}: {name} is no metric')


def check_labels(text, where, labels):
    used = re.findall(r'(?:by|without|on|ignoring) *\(([^)]*)\)', text)
    for matchers in re.findall(r'\{([^{}]*)\}', text):
        used += re.findall(r'(\w+) *(?:=~|!~|!=|=)', matchers)
    used += re.findall(r'\$labels\.(\w+)', text)
    for label in re.findall(r'\w+', ' '.join(used)):
        check(label in labels, f'{where}: there is no label {label}')


def check_manual(text, where, manual):
    for page, part in re.findall(r'\b(timerthread[\w-]*)\((\d)\)', text):
        path = os.path.join(manual, f'man{part}', f'{page}.{part}')
        check(os.path.exists(path), f'{where}: there is no {page}({part})')
    # "A heading" in a page.
    for heading, page, part in re.findall(
            r'"([^"]+)"\s+in\s+(timerthread[\w-]*)\((\d)\)', text):
        path = os.path.join(manual, f'man{part}', f'{page}.{part}')
        titles = re.findall(r'^\.S[HS] (.*)', read(path).replace('\\-', '-'),
                            re.M)
        heading = ' '.join(heading.split())
        check(any(title.startswith(heading) for title in titles),
              f'{where}: {path} has no heading "{heading}"')


def check_rules(text, where, names, labels, manual):
    records = re.findall(r'- record: *(\S+)', text)
    code = re.sub(r'(?m)^ *#.*', '', text)
    for record in records:
        code = code.replace(record, '')
    check_names(code, where, names)
    check_labels(code, where, labels)
    check_manual(text, where, manual)
    for rule in re.split(r'(?m)^ *- alert: *', code)[1:]:
        name = rule.split()[0]
        for key in 'expr', 'for', 'severity', 'summary', 'description':
            check(re.search(rf'(?m)^ +{key}:', rule), f'{name} has no {key}')
        check('timerthread' in rule.partition('description:')[2],
              f'{name} names no page of the manual')
    return set(re.findall(r'- alert: *(\S+)', code))


def check_place(panels):
    """Each has a place of its own, in 24 columns."""
    taken = set()
    for panel in panels:
        p = panel['gridPos']
        cells = {(x, y) for x in range(p['x'], p['x'] + p['w'])
                 for y in range(p['y'], p['y'] + p['h'])}
        check(cells and p['x'] >= 0 and p['x'] + p['w'] <= 24 and
              not cells & taken, f'{panel["title"]}: its place')
        taken |= cells
    check(len({panel['id'] for panel in panels}) == len(panels), 'equal ids')


def expressions(board):
    for panel in board['panels']:
        check(panel['title'] and panel['description'] and panel['targets'],
              f'{panel["title"]}: something is missing')
        for target in panel['targets']:
            yield panel['title'], target


def check_board(board, where, names, labels, manual):
    variables = [v['name'] for v in board['templating']['list']]
    text = json.dumps(board, ensure_ascii=False).replace('\\"', '"')
    for name in re.findall(r'\$\{?(\w+)', text):
        check(name in variables or name.startswith('__'),
              f'{where}: there is no variable {name}')
    check(variables[0] == 'datasource', f'{where}: no data source')
    check_place(board['panels'])
    check_manual(text, where, manual)
    for variable in board['templating']['list'][1:]:
        query = variable['query']['query']
        check(query == variable['definition'], f'{where}: {query}')
        match = re.fullmatch(r'label_values\((.*), (\w+)\)', query)
        check(match and match[2] in labels, f'{where}: {query}')
        check_names(query, where, names)
        check_labels(query, where, labels)
    for title, target in expressions(board):
        check_names(target['expr'], title, names)
        check_labels(target['expr'], title, labels)
        check('$instance' in target['expr'] and '$name' in target['expr'],
              f'{title}: it does not select')
        for label in re.findall(r'\{\{(\w+)\}\}', target['legendFormat']):
            check(label in labels, f'{title}: there is no label {label}')
        check(target['datasource']['uid'] == '${datasource}', title)


def write_expressions(board, path):
    with open(path, 'w', encoding='utf-8') as file:
        file.write('groups:\n  - name: dashboard\n    rules:\n')
        for i, (_, target) in enumerate(expressions(board)):
            expr = target['expr'].replace('$__rate_interval', '5m')
            # A string of JSON is one of YAML.
            file.write(f'      - record: expr_{i}\n'
                       f'        expr: {json.dumps(expr)}\n')


def main(page, rules, tests, dashboard, manual, path):
    names, labels = samples(read(page))
    check(len(names) > 20 and labels == {'name', 'le'}, f'{page}: {labels}')
    labels |= {'instance', 'job'}  # Prometheus adds these
    alerts = check_rules(read(rules), 'rules', names, labels, manual)
    text = re.sub(r'(?m)^ *#.*', '', read(tests))
    # A range of samples is no name; nor is what a test's query adds.
    check_names(text, 'tests', names)
    tested = set(re.findall(r'alertname="(\w+)"', text))
    check(alerts == tested, f'alerts without a test: {alerts ^ tested}')
    board = json.loads(read(dashboard))
    check_board(board, 'dashboard', names, labels, manual)
    write_expressions(board, path)
    for what in wrong:
        print(what)
    print(len(alerts), 'alerts,', len(board['panels']), 'panels')
    return bool(wrong)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
