import { Stack } from 'aws-cdk-lib'
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import type { Construct } from 'constructs'
import type { Settings } from '../settings.ts'
import { alarmDefinitions, type MonitoredResources } from './alarm-definitions.ts'

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

/**
 * The topic requires TLS. That policy replaces the default one, which lets alarms of the account publish, so the topic
 * allows it explicitly. It is not encrypted: alarms cannot publish with the AWS managed key of SNS, and notifications
 * contain only a metric and a number.
 */
function createAlarmTopic(scope: Construct, email: string): Topic {
  const topic = new Topic(scope, 'AlarmTopic', { enforceSSL: true })
  topic.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  )
  topic.addSubscription(new EmailSubscription(email))
  return topic
}
