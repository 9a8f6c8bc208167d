import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib'
import type { RestApi } from 'aws-cdk-lib/aws-apigateway'
import type { Construct } from 'constructs'
import { createAlarms } from './alarms.ts'
import { createApi } from './api.ts'
import { createDashboard } from './dashboard.ts'
import { createDomain } from './domain.ts'
import { createKey } from './encryption-key.ts'
import { createFunctions, type Functions } from './functions.ts'
import { createQueues } from './queue.ts'
import type { Settings } from './settings.ts'
import { createTable } from './table.ts'
import { createTriggers } from './triggers.ts'
import { createWebAcl } from './web-acl.ts'

export type ServiceStackProps = StackProps & {
  /** The folder that `bundleFunctions` has written. */
  bundles: string
  settings: Settings
}

/** The whole service: API Gateway, functions, table, queue. */
export class ServiceStack extends Stack {
  readonly api: RestApi
  readonly functions: Functions

  constructor(scope: Construct, id: string, { bundles, settings, ...props }: ServiceStackProps) {
    super(scope, id, { description: 'Agent Execution Service', ...props })
    const key = settings.kms ? createKey(this) : null
    const table = createTable(this, key)
    const { queue, deadLetters } = createQueues(this, key)
    const functions = createFunctions(this, { table, queue, bundles, settings })
    createTriggers(this, { functions, queue, deadLetters, settings })
    const api = createApi(this, { functions, settings })
    if (settings.webAcl) createWebAcl(this, api)
    if (settings.watching) {
      const watched = { table, queue, deadLetters, functions, settings }
      createDashboard(this, { ...watched, api, alarms: createAlarms(this, watched) })
    }

    const host = `${api.restApiId}.execute-api.${this.region}.${this.urlSuffix}`
    new CfnOutput(this, 'BaseUrl', { value: `https://${host}/${api.deploymentStage.stageName}` })
    new CfnOutput(this, 'TableName', { value: table.tableName })
    new CfnOutput(this, 'QueueUrl', { value: queue.queueUrl })
    this.api = api
    this.functions = functions
    const domain = createDomain(this, { api, settings })
    if (domain) new CfnOutput(this, 'DomainTarget', { value: domain.domainNameAliasDomainName })
  }
}
