import { runInNewContext } from 'node:vm'
import type { Template } from 'aws-cdk-lib/assertions'
import { findResources } from '../synthesize.ts'
import { renderValue, type Sample } from './evaluate-alarms.ts'

/** A log line, and the logical id of its log group without the hash. */
export type LogEvent = { logGroup: string; entry: Record<string, unknown> }

/** The samples that the metric filters of a template derive from log lines. */
export function applyMetricFilters(template: Template, events: LogEvent[]): Sample[] {
  return Object.values(findResources(template, 'AWS::Logs::MetricFilter')).flatMap(({ Properties }) => {
    const logGroup = Properties.LogGroupName.Ref.replace(/[0-9A-F]{8}$/, '')
    const [{ MetricNamespace, MetricName, MetricValue }] = Properties.MetricTransformations
    return events
      .filter((event) => event.logGroup === logGroup && matchesPattern(Properties.FilterPattern, event.entry))
      .map(({ entry }) => ({
        namespace: renderValue(MetricNamespace),
        name: MetricName,
        dimensions: {},
        value: Number(MetricValue.startsWith('$.') ? readMember(entry, MetricValue.slice(2)) : MetricValue),
      }))
  })
}

/** @param path with dots */
const readMember = (entry: Record<string, unknown>, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], entry)

const CONDITION = /\$\.(\w+) (?:(=|!=) "([^"]*)"|>= (\d+)|NOT EXISTS)/g

/**
 * Whether a log line matches a filter pattern: conditions on members of JSON, joined by && and ||. Text can end with
 * the wildcard `*`. A number does not match text.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html
 */
function matchesPattern(pattern: string, entry: Record<string, unknown>): boolean {
  const [, conditions = ''] = /^\{ (.*) \}$/.exec(pattern) ?? []
  const results = conditions.replace(CONDITION, (_, member, operator, text, min) => {
    const value = entry[member]
    if (min !== undefined) return String(typeof value === 'number' && value >= Number(min))
    if (operator === undefined) return String(value === undefined)
    // A comparison with a member that does not exist never matches.
    return String(value !== undefined && (operator === '=') === matchesText(text, String(value)))
  })
  if (!/^[()&| truefals]+$/.test(results)) throw new Error(`The pattern ${pattern} is not supported.`)
  return Boolean(runInNewContext(results))
}

const matchesText = (text: string, value: string): boolean =>
  text.endsWith('*') ? value.startsWith(text.slice(0, -1)) : value === text
