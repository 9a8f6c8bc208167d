import { Stack } from 'aws-cdk-lib'
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import type { Construct } from 'constructs'
import type { Settings } from '../settings.ts'
import { alarmDefinitions, type MonitoredResources } from './alarm-definitions.ts'
import { createAlarmTopic } from './alarm-topic.ts'

export function createAlarms(
  scope: Construct,
  { settings, ...resources }: MonitoredResources & { settings: Pick<Settings, 'alarmEmail'> },
): Alarm[] {
  const { stackName } = Stack.of(scope)
  const action = settings.alarmEmail && new SnsAction(createAlarmTopic(scope, settings.alarmEmail))
  return alarmDefinitions(resources).map(({ name, description, ...definition }) => {
    const alarm = new Alarm(scope, `${name}Alarm`, {
      alarmName: `${stackName}-${name}`,
      alarmDescription: `${description} See docs/runbooks.md.`,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...definition,
    })
    if (action) {
      alarm.addAlarmAction(action)
      alarm.addOkAction(action)
    }
    return alarm
  })
}
