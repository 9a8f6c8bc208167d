import { Stack } from 'aws-cdk-lib'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { CfnPermission } from 'aws-cdk-lib/aws-lambda'
import { CfnSubscription, Topic } from 'aws-cdk-lib/aws-sns'
import type { Construct } from 'constructs'
import { type AlarmTarget, parseAlarmSubscriptions } from './subscriptions.ts'

/** Creates the topic of the alarms with its subscriptions, and returns what an alarm does when its state changes. */
export function createAlarmTopic(
  scope: Construct,
  subscriptions: string | null,
): { topic: Topic; actions: SnsAction[] } {
  const topic = createTopic(scope)
  const targets = subscriptions === null ? [] : parseAlarmSubscriptions(subscriptions)
  const others = targets.filter(({ protocol }) => protocol === 'topic')
  for (const target of targets.filter(({ protocol }) => protocol !== 'topic')) subscribe(topic, target)
  const topics = others.map(({ endpoint }, index) =>
    Topic.fromTopicArn(scope, `AlarmTopic${index}`, endpoint),
  )
  return { topic, actions: [topic, ...topics].map((each) => new SnsAction(each)) }
}

/**
 * The topic requires TLS. That policy replaces the default one, which lets alarms of the account publish, so the topic
 * allows it explicitly. It is not encrypted: alarms cannot publish with the AWS managed key of SNS, and notifications
 * contain only a metric and a number.
 */
function createTopic(scope: Construct): Topic {
  const topic = new Topic(scope, 'AlarmTopic', { enforceSSL: true })
  topic.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  )
  return topic
}

/** The policy of a queue is that of its owner: it has to allow the topic to send. */
function subscribe(topic: Topic, { protocol, endpoint }: AlarmTarget): void {
  new CfnSubscription(topic, endpoint, { topicArn: topic.topicArn, protocol, endpoint })
  if (protocol !== 'lambda') return
  new CfnPermission(topic, `${endpoint}-permission`, {
    action: 'lambda:InvokeFunction',
    functionName: endpoint,
    principal: 'sns.amazonaws.com',
    sourceArn: topic.topicArn,
  })
}
