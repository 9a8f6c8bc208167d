import type { ILogGroup } from 'aws-cdk-lib/aws-logs'
import type { Topic } from 'aws-cdk-lib/aws-sns'
import type { Construct } from 'constructs'
import { createAlarmTopic } from './alarm-topic.ts'
import { type Alarms, createAlarms, type MonitoredResources } from './alarms.ts'
import { createDashboard } from './dashboard.ts'
import { createMetricFilters } from './metric-filters.ts'

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
