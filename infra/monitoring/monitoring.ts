import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import type { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import type { ILogGroup } from 'aws-cdk-lib/aws-logs'
import type { Topic } from 'aws-cdk-lib/aws-sns'
import type { Construct } from 'constructs'
import { createAlarmTopic } from './alarm-topic.ts'
import { listAlarms, type MonitoredResources } from './alarms.ts'
import { createDashboard } from './dashboard.ts'
import { createMetricFilters } from './metric-filters.ts'

/** `forReleases`: those that undo a release. CodeDeploy accepts at most ten. */
type Alarms = { all: Alarm[]; forReleases: Alarm[] }

/** Creates what the setting `monitoring` adds to a service. */
export function createMonitoring(
  service: Construct & Omit<MonitoredResources, 'hasTraces'>,
  {
    accessLog,
    alarmSubscriptions,
    hasTraces,
  }: { accessLog: ILogGroup; alarmSubscriptions: string | null; hasTraces: boolean },
): Alarms & { topic: Topic } {
  const { name, api, table, functions, modelRunner, queue, modelQueue, deadLetterQueue, deliveryQueue } =
    service
  const queues = { queue, modelQueue, deadLetterQueue, deliveryQueue }
  const resources = { name, api, table, functions, modelRunner, hasTraces, ...queues }
  createMetricFilters(service, { name, accessLog, functions, modelRunner })
  const { topic, actions } = createAlarmTopic(service, alarmSubscriptions)
  const alarms = createAlarms(service, { ...resources, actions })
  createDashboard(service, { ...resources, alarms: alarms.all })
  return { ...alarms, topic }
}

/** Creates the alarms. Unless its definition says otherwise, an alarm is raised when its metric is above 0. */
function createAlarms(
  scope: Construct,
  { actions, ...resources }: MonitoredResources & { actions: SnsAction[] },
): Alarms {
  const alarms: Alarms = { all: [], forReleases: [] }
  for (const definition of listAlarms(resources)) {
    const { name, description, threshold = 0, endsRelease, ...props } = definition
    const alarm = new Alarm(scope, `${name}Alarm`, {
      alarmName: `${resources.name}-${name}`,
      alarmDescription: `${typeof description === 'string' ? description : description(threshold)} See docs/operations.md.`,
      evaluationPeriods: 1,
      threshold,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...props,
    })
    alarm.addAlarmAction(...actions)
    alarm.addOkAction(...actions)
    alarms.all.push(alarm)
    if (endsRelease) alarms.forReleases.push(alarm)
  }
  return alarms
}
