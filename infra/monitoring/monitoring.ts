import type { ILogGroup } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'
import { type Alarms, createAlarms, type MonitoredResources } from './alarms.ts'
import { createDashboard } from './dashboard.ts'
import { createMetricFilters } from './metric-filters.ts'

/** Creates what the setting `monitoring` adds to a service. */
export function createMonitoring(
  service: Construct & MonitoredResources,
  { accessLog, alarmEmail }: { accessLog: ILogGroup; alarmEmail: string | null },
): Alarms {
  const { name, api, table, queue, deadLetterQueue, functions } = service
  const resources = { name, api, table, queue, deadLetterQueue, functions }
  createMetricFilters(service, { name, accessLog, functions })
  const alarms = createAlarms(service, { ...resources, alarmEmail })
  createDashboard(service, { ...resources, alarms: alarms.all })
  return alarms
}
