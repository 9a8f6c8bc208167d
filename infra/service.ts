import { spawnSync } from 'node:child_process'
import { extname, join } from 'node:path'
import { Annotations, type App, Names, Stack, Tags } from 'aws-cdk-lib'
import type { SpecRestApi } from 'aws-cdk-lib/aws-apigateway'
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch'
import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import type { Topic } from 'aws-cdk-lib/aws-sns'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { MAX_NAME_LENGTH } from '../lib/contract/settings/service.ts'
import { SETTINGS_TAG, toSettingsTag } from '../lib/dynamodb/table/settings-tag.ts'
import { createApi } from './api/api.ts'
import { createDomain } from './api/domain.ts'
import { createWebAcl } from './api/web-acl.ts'
import { describeConcurrency, divideConcurrency } from './functions/concurrency.ts'
import { shiftReleases } from './functions/deployment.ts'
import { createTableEnvironment } from './functions/environment.ts'
import { createFunctions, type Functions, type ServiceFunction } from './functions/functions.ts'
import { createTriggers } from './functions/triggers.ts'
import { createMonitoring } from './monitoring/monitoring.ts'
import { isPaused, parseProps, type ServiceSettings, type SettingProps } from './settings.ts'
import { attachTable, createKey, createQueues, createTable } from './storage.ts'

/** The id by which the CDK can acknowledge the warning. */
export const NO_RETENTION = 'agent-execution-service:retention'
const KEPT_FOREVER =
  'executionRetentionDays is not set: executions and their payloads are kept until clients delete them, and storage costs grow with every run.'

/** The id by which the CDK can acknowledge the warning. */
export const NO_DISCOVERY = 'agent-execution-service:discovery'
const NOT_DISCOVERED =
  'oidcIssuer is set, but neither publicUrl nor domainName: MCP clients that are not signed in cannot find the identity provider. Set publicUrl to the stack output BaseUrl after the first deployment.'

/** The settings of docs/settings.md. Those left out have their defaults. */
export type AgentExecutionServiceProps = SettingProps & {
  /**
   * Part of every name that the service has in the account: API, dashboard, alarms, metrics, path of the secrets. By
   * default, the name of the stack with the path of the construct. Another name loses metrics and secrets.
   */
  name?: string
  /** The output folder of `bundleFunctions`. If left out, the construct bundles the functions. */
  bundles?: string
}

/** The whole service: API, functions, table, queues, and monitoring. */
export class AgentExecutionService extends Construct {
  readonly name: string
  readonly settings: ServiceSettings
  /** The base URL of the API, without a trailing slash. */
  readonly url: string
  /** What the DNS record of the custom domain points to, if there is one. */
  readonly domainTarget: string | null
  readonly api: SpecRestApi
  readonly functions: Functions
  /** Runs model agents: `process-execution`, or the same code on managed instances. */
  readonly modelRunner: ServiceFunction
  /** The one that the functions use: with `tableName`, not the one that the service creates and keeps. */
  readonly table: ITable
  readonly isPaused: boolean
  /** Of runs that have a worker to themselves. */
  readonly queue: Queue
  /** Of runs that share one. */
  readonly modelQueue: Queue
  readonly deadLetterQueue: Queue
  /** Of events on their way to destinations. */
  readonly deliveryQueue: Queue
  /** None without `monitoring`. */
  readonly alarms: Alarm[]
  /** What the alarms notify; null without `monitoring`. */
  readonly alarmTopic: Topic | null

  /** What is reserved of the concurrency of the account, in a sentence. */
  readonly reservedConcurrency: string

  /** @throws an Error that names each prop with an invalid value or an unknown name */
  constructor(scope: Construct, id: string, { bundles, ...props }: AgentExecutionServiceProps = {}) {
    super(scope, id)
    const settings = parseProps({ ...props, name: props.name ?? getDefaultName(this) })
    this.name = settings.name
    this.settings = settings
    this.reservedConcurrency = describeConcurrency(settings, divideConcurrency(settings))
    // A cost allocation tag: https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/cost-alloc-tags.html
    Tags.of(this).add('agent-execution-service', this.name)
    if (settings.executionRetentionDays === null)
      Annotations.of(this).addWarningV2(NO_RETENTION, KEPT_FOREVER)
    if (settings.oidcIssuer && !settings.publicUrl && !settings.domainName)
      Annotations.of(this).addWarningV2(NO_DISCOVERY, NOT_DISCOVERED)
    rejectSameName(this)
    const key = settings.kms ? createKey(this) : null
    const { tableName } = settings
    const ownTable = createTable(this, { key, settings })
    Tags.of(ownTable).add(SETTINGS_TAG, toSettingsTag(createTableEnvironment(settings)))
    this.table = tableName ? attachTable(this, { tableName, key }) : ownTable
    this.isPaused = isPaused(settings)
    const queues = createQueues(this, key)
    this.queue = queues.queue
    this.modelQueue = queues.modelQueue
    this.deadLetterQueue = queues.deadLetterQueue
    this.deliveryQueue = queues.deliveryQueue
    const created = createFunctions(this, {
      table: this.table,
      queues,
      bundles: bundles ?? bundleFunctionsOnce(this),
      settings,
    })
    this.functions = created.functions
    this.modelRunner = created.modelRunner
    createTriggers(this, created, { queues, settings })
    const { api, accessLog } = createApi(this, { functions: this.functions, settings })
    this.api = api
    if (settings.webAcl) createWebAcl(this, { api, name: this.name })
    const { alarmSubscriptions, deployment } = settings
    const alarms = settings.monitoring
      ? createMonitoring(this, { accessLog, alarmSubscriptions, hasTraces: settings.otlpEndpoint !== null })
      : null
    // A canary of a paused release would be undone by the alarms that it raises.
    if (alarms && !this.isPaused)
      shiftReleases(this, this.functions, {
        ...{ deployment, alarms: alarms.forReleases },
        // On managed instances, each version has instances of its own.
        atOnce: settings.runnerInstanceVcpus ? ['run-agent'] : [],
      })
    this.alarms = alarms?.all ?? []
    this.alarmTopic = alarms?.topic ?? null
    const domain = createDomain(this, api, settings)
    this.url = domain?.url ?? getExecuteApiUrl(api)
    this.domainTarget = domain?.target ?? null
  }
}

const BUNDLE = new URL(`functions/bundle${extname(import.meta.url)}`, import.meta.url).href

const bundled = new Set<string>()

/**
 * Bundles the functions into the folder of the cloud assembly, once for all services of the app. A constructor cannot
 * wait for `bundleFunctions`, so it runs in a process of its own.
 * @returns the folder
 */
function bundleFunctionsOnce(scope: Construct): string {
  const folder = join((scope.node.root as App).outdir, 'functions')
  if (bundled.has(folder)) return folder
  const script = `import { bundleFunctions } from ${JSON.stringify(BUNDLE)}; await bundleFunctions(process.argv[1])`
  const args = [...process.execArgv, '--input-type=module', '--eval', script, folder]
  const { status, error } = spawnSync(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  if (error || status !== 0)
    throw new Error('The functions could not be bundled; the output above says why.', { cause: error })
  bundled.add(folder)
  return folder
}

const getDefaultName = (service: Construct) =>
  Names.uniqueResourceName(service, {
    maxLength: MAX_NAME_LENGTH,
    separator: '-',
    allowedSpecialCharacters: '-',
  })

function rejectSameName(service: AgentExecutionService): void {
  const others = Stack.of(service)
    .node.findAll()
    .filter((other) => other instanceof AgentExecutionService && other !== service)
  if (others.some((other) => (other as AgentExecutionService).name === service.name))
    throw new Error(`Invalid props: another service of the stack has the name ${service.name}.`)
}

/** `RestApi.url` ends with a slash. */
function getExecuteApiUrl({ restApiId, deploymentStage, stack }: SpecRestApi): string {
  const host = `${restApiId}.execute-api.${stack.region}.${stack.urlSuffix}`
  return `https://${host}/${deploymentStage.stageName}`
}
