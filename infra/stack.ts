import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import { createApi } from './api.ts'
import { createFunctions } from './functions.ts'
import { createQueues } from './queue.ts'
import { createTable } from './table.ts'
import { createTriggers } from './triggers.ts'

export type ServiceStackProps = StackProps & {
  /** The folder that `bundleFunctions` has written. */
  bundles: string
  /** Whether API Gateway streams what may be larger or take longer than it buffers. */
  responseStreaming: boolean
  /** `{provider}/{model}` for agents that name none. */
  defaultModel: string
  /** Open executions that an organization may have at a time. */
  maxOpenExecutions: number
}

/** The whole service: API Gateway, functions, table, queue. */
export class ServiceStack extends Stack {
  constructor(
    scope: Construct,
    id: string,
    { bundles, responseStreaming, defaultModel, maxOpenExecutions, ...props }: ServiceStackProps,
  ) {
    super(scope, id, { description: 'Agent Execution Service', ...props })
    const table = createTable(this)
    const { queue, deadLetters } = createQueues(this)
    const functions = createFunctions(this, {
      table,
      queue,
      bundles,
      responseStreaming,
      defaultModel,
      maxOpenExecutions,
    })
    createTriggers(this, { functions, queue, deadLetters })
    const api = createApi(this, { functions, responseStreaming })

    const host = `${api.restApiId}.execute-api.${this.region}.${this.urlSuffix}`
    new CfnOutput(this, 'BaseUrl', { value: `https://${host}/${api.deploymentStage.stageName}` })
    new CfnOutput(this, 'TableName', { value: table.tableName })
    new CfnOutput(this, 'QueueUrl', { value: queue.queueUrl })
  }
}
