import { runInNewContext } from 'node:vm'
import type { Template } from 'aws-cdk-lib/assertions'
import { findResources, type Resource } from '../synthesize.ts'

/** One value of a metric. The dimensions of AWS are rendered as in `renderDimensions`. */
export type Sample = { namespace: string; name: string; dimensions: Record<string, string>; value: number }

/** Of the synthesized template. */
export const STACK_NAME = 'AgentExecutionService'

type Properties = Resource['Properties']
type Statistic = {
  Namespace: string | Properties
  MetricName: string
  Dimensions?: Properties[]
  statistic: string
}

/**
 * The alarms that go off, by name without the stack, sorted.
 * @param periods the samples of consecutive periods, newest last. A period is as long as that of the metric.
 */
export function evaluateAlarms(template: Template, periods: Sample[][]): string[] {
  return Object.values(findResources(template, 'AWS::CloudWatch::Alarm'))
    .filter(({ Properties }) => isInAlarm(Properties, periods))
    .map(({ Properties }) => String(Properties.AlarmName).replace(/^.*-/, ''))
    .sort()
}

/** In alarm when all of the evaluated periods are breaching: no alarm of the stack sets `DatapointsToAlarm`. */
function isInAlarm(alarm: Properties, periods: Sample[][]): boolean {
  if (alarm.DatapointsToAlarm !== undefined) throw new Error('DatapointsToAlarm is not supported.')
  const evaluated = periods.slice(-alarm.EvaluationPeriods)
  return (
    evaluated.length === alarm.EvaluationPeriods && evaluated.every((samples) => isBreaching(alarm, samples))
  )
}

function isBreaching(alarm: Properties, samples: Sample[]): boolean {
  const value = evaluate(alarm, samples)
  if (Number.isNaN(value)) return alarm.TreatMissingData === 'breaching'
  if (alarm.ComparisonOperator === 'GreaterThanThreshold') return value > alarm.Threshold
  if (alarm.ComparisonOperator === 'LessThanThreshold') return value < alarm.Threshold
  throw new Error(`${alarm.ComparisonOperator} is not supported.`)
}

/** The value of the alarm's metric or expression in a period; NaN if it is missing. */
function evaluate(alarm: Properties, samples: Sample[]): number {
  if (!alarm.Metrics) return aggregate({ ...alarm, statistic: alarm.Statistic } as Statistic, samples)
  const values: Record<string, number> = {}
  for (const { Id, MetricStat } of alarm.Metrics)
    if (MetricStat) values[Id] = aggregate({ ...MetricStat.Metric, statistic: MetricStat.Stat }, samples)
  const returned = alarm.Metrics.find(({ ReturnData }: Properties) => ReturnData)
  return returned.MetricStat
    ? (values[returned.Id] ?? Number.NaN)
    : evaluateExpression(returned.Expression, values)
}

/**
 * The syntax of metric math that the alarms use is also valid JavaScript, with these functions. A missing operand makes
 * the result missing.
 */
const evaluateExpression = (expression: string, values: Record<string, number>): number =>
  Number(runInNewContext(expression, { ...FUNCTIONS, ...values }))

const FUNCTIONS = {
  IF: (condition: boolean, then: number, otherwise: number) => (condition ? then : otherwise),
  FILL: (value: number, filler: number) => (Number.isNaN(value) ? filler : value),
  MAX: (values: number[]) => Math.max(...values),
  SUM: (values: number[]) => values.reduce((total, value) => total + value, 0),
  /** Of the concurrent executions of an account, unless the quota was changed. */
  SERVICE_QUOTA: (value: number) => (Number.isNaN(value) ? value : 1_000),
}

function aggregate(
  { Namespace, MetricName, Dimensions = [], statistic }: Statistic,
  samples: Sample[],
): number {
  const dimensions = renderDimensions(Dimensions)
  const values = samples
    .filter(
      (sample) =>
        sample.namespace === renderValue(Namespace) &&
        sample.name === MetricName &&
        isEqual(sample.dimensions, dimensions),
    )
    .map(({ value }) => value)
    .sort((a, b) => a - b)
  if (values.length === 0) return Number.NaN
  if (statistic === 'Sum') return FUNCTIONS.SUM(values)
  if (statistic === 'Maximum') return values.at(-1) ?? Number.NaN
  const percent = Number(/^p(\d+)$/.exec(statistic)?.[1])
  if (Number.isNaN(percent)) throw new Error(`The statistic ${statistic} is not supported.`)
  return values[Math.ceil((percent / 100) * values.length) - 1] ?? Number.NaN
}

const renderDimensions = (dimensions: Properties[]): Record<string, string> =>
  Object.fromEntries(dimensions.map(({ Name, Value }) => [Name, renderValue(Value)]))

/** A reference to a resource is rendered as its logical id without the hash. */
export function renderValue(value: string | Properties): string {
  if (typeof value === 'string') return value
  const [reference] = [value.Ref ?? value['Fn::GetAtt']].flat()
  return reference.replace(/[0-9A-F]{8}$/, '')
}

const isEqual = (a: Record<string, string>, b: Record<string, string>): boolean =>
  Object.keys(a).length === Object.keys(b).length && Object.keys(a).every((name) => a[name] === b[name])
