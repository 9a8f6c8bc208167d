import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import { AgentExecutionService } from './service.ts'
import type { Settings } from './settings.ts'

type ServiceStackProps = StackProps & {
  /** The output folder of `bundleFunctions`. */
  bundles?: string
  settings: Settings
}

/** A stack with nothing but the service. */
export class ServiceStack extends Stack {
  readonly service: AgentExecutionService

  constructor(scope: Construct, id: string, { bundles, settings, ...props }: ServiceStackProps) {
    // CloudFormation accepts templates of at most 1 MB, of which indentation would be a third.
    super(scope, id, {
      description: 'Agent Execution Service',
      suppressTemplateIndentation: true,
      ...props,
    })
    const { stackName: name, ...service } = settings
    // The CDK leaves this id out of logical ids.
    this.service = new AgentExecutionService(this, 'Default', {
      ...service,
      name,
      ...(bundles && { bundles }),
    })
    const { url, table, queue, modelQueue, domainTarget, alarmTopic, isPaused } = this.service
    const { reservedConcurrency } = this.service
    new CfnOutput(this, 'BaseUrl', { value: url })
    new CfnOutput(this, 'TableName', { value: table.tableName })
    new CfnOutput(this, 'QueueUrl', { value: queue.queueUrl })
    new CfnOutput(this, 'ModelQueueUrl', { value: modelQueue.queueUrl })
    new CfnOutput(this, 'ReservedConcurrency', { value: reservedConcurrency })
    if (alarmTopic) new CfnOutput(this, 'AlarmTopicArn', { value: alarmTopic.topicArn })
    if (isPaused) new CfnOutput(this, 'Paused', { value: 'Set paused=false to go live.' })
    if (domainTarget) new CfnOutput(this, 'DomainTarget', { value: domainTarget })
  }
}
