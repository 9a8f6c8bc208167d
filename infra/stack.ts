import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib'
import type { RestApi } from 'aws-cdk-lib/aws-apigateway'
import type { Construct } from 'constructs'
import { createApi } from './api/api.ts'
import { createDomain } from './api/domain.ts'
import { createWebAcl } from './api/web-acl.ts'
import { shiftReleases } from './functions/deployment.ts'
import { createFunctions, createTriggers, type Functions } from './functions/functions.ts'
import { createAlarms } from './monitoring/alarms.ts'
import { createDashboard } from './monitoring/dashboard.ts'
import { createMetricFilters } from './monitoring/metric-filters.ts'
import type { Settings } from './settings.ts'
import { createKey, createQueues, createTable } from './storage.ts'

type ServiceStackProps = StackProps & {
  /** The output folder of `bundleFunctions`. */
  bundles: string
  settings: Settings
}

/** The whole service: API, functions, table, queues, and monitoring. */
export class ServiceStack extends Stack {
  readonly api: RestApi
  readonly functions: Functions

  constructor(scope: Construct, id: string, { bundles, settings, ...props }: ServiceStackProps) {
    super(scope, id, { description: 'Agent Execution Service', ...props })
    const key = settings.kms ? createKey(this) : null
    const table = createTable(this, { key, deletionProtection: settings.deletionProtection })
    const { queue, deadLetterQueue } = createQueues(this, key)
    const functions = createFunctions(this, { table, queue, bundles, settings })
    createTriggers(this, functions, { queue, deadLetterQueue, settings })
    const { api, accessLog } = createApi(this, { functions, settings })
    if (settings.webAcl) createWebAcl(this, api)
    if (settings.monitoring) {
      createMetricFilters(this, { accessLog, functions })
      const resources = { api, table, queue, deadLetterQueue, functions }
      const alarms = createAlarms(this, { ...resources, alarmEmail: settings.alarmEmail })
      createDashboard(this, { ...resources, alarms: alarms.all })
      shiftReleases(this, functions, { deployment: settings.deployment, alarms: alarms.forReleases })
    }

    const domain = createDomain(this, api, settings)
    new CfnOutput(this, 'BaseUrl', { value: domain?.url ?? getExecuteApiUrl(api) })
    new CfnOutput(this, 'TableName', { value: table.tableName })
    new CfnOutput(this, 'QueueUrl', { value: queue.queueUrl })
    this.api = api
    this.functions = functions
    if (domain) new CfnOutput(this, 'DomainTarget', { value: domain.target })
  }
}

/** `RestApi.url` ends with a slash. */
function getExecuteApiUrl({ restApiId, deploymentStage, stack }: RestApi): string {
  const host = `${restApiId}.execute-api.${stack.region}.${stack.urlSuffix}`
  return `https://${host}/${deploymentStage.stageName}`
}
