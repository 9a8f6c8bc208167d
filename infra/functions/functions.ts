import { join } from 'node:path'
import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import { Rule, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets'
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import {
  type Alias,
  Architecture,
  type CapacityProvider,
  type CfnFunction,
  Code,
  type IFunction,
  Function as Lambda,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  SystemLogLevel,
  Tracing,
} from 'aws-cdk-lib/aws-lambda'
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { toSignInScope } from '../../lib/access/protected-resource.ts'
import { functionOf, getOperation, operationsOf } from '../../lib/contract/routes.ts'
import { MCP_DEADLINE_MS, SYNC_DEADLINE_MS } from '../../lib/core/limits.ts'
import * as variables from '../../lib/environment.ts'
import { STACK_KEYS } from '../../lib/models/providers/provider-settings.ts'
import { parsePublicUrl } from '../../lib/public-url.ts'
import { isPaused, type ServiceSettings } from '../settings.ts'
import type { Queues } from '../storage.ts'
import { DELIVERY_CONCURRENCY, divideConcurrency } from './concurrency.ts'
import { findDefaultModel } from './default-model.ts'
import {
  AGENT_FUNCTIONS,
  FUNCTION_NAMES,
  type FunctionName,
  getDescription,
  getFunctionSettings,
  MODEL_FUNCTIONS,
  RECURSIVE_FUNCTIONS,
} from './function-settings.ts'
import {
  AUDIT_READERS,
  applyGrant,
  GRANTS,
  getAuditPrefix,
  getSecretsPath,
  grantAgentPermissions,
  grantEmbeddings,
  grantEventBus,
  grantNetworkInterfaces,
  SECRET_FUNCTIONS,
} from './grants.ts'
import { createRunnerInstances, INSTANCES, toInstanceConcurrency } from './runner-instances.ts'
import { createVpcConfig } from './vpc.ts'

type FunctionsProps = {
  table: ITable
  queues: Queues
  /** The output folder of `bundleFunctions`. */
  bundles: string
  settings: ServiceSettings
}

/** A function, and the alias through which everything invokes it: the version of the deployed release. */
export type ServiceFunction = { function: Lambda; live: Alias & IFunction }

export type Functions = Record<FunctionName, ServiceFunction>

export const LIVE = 'live'

/**
 * Creates one Lambda function per file of `functions/`, and the runner of runs that share a worker: that of all other
 * runs, unless it runs on managed instances.
 */
export function createFunctions(
  scope: Construct,
  props: FunctionsProps,
): { functions: Functions; modelRunner: ServiceFunction } {
  const { settings } = props
  const defaultModel = settings.defaultModel ?? findDefaultModel(scope)
  const vpcConfig = createVpcConfig(scope, settings)
  const create = (name: FunctionName) => createFunction(scope, name, { ...props, defaultModel, vpcConfig })
  const functions = Object.fromEntries(FUNCTION_NAMES.map((name) => [name, create(name)])) as Functions
  const runner = functions['process-execution']
  if (!settings.runnerInstanceVcpus || !vpcConfig) return { functions, modelRunner: runner }
  const instances = createRunnerInstances(scope, vpcConfig, settings.runnerInstanceVcpus)
  const network = { defaultModel, vpcConfig: null }
  return {
    functions,
    modelRunner: createFunction(scope, 'process-execution', { ...props, ...network, instances }),
  }
}

/** Each function has its own role and log group, so that its policy contains all of its permissions and no others. */
function createFunction(
  parent: Construct,
  name: FunctionName,
  props: FunctionsProps & {
    defaultModel: string
    vpcConfig: CfnFunction.VpcConfigProperty | null
    /** Runs the function. Their network is that of the instances. */
    instances?: CapacityProvider
  },
): ServiceFunction {
  const { table, queues, bundles, settings, vpcConfig, instances } = props
  const { timeoutSeconds, memoryMb } = getFunctionSettings(name)
  const reserved = divideConcurrency(settings).reserved[name]
  const scope = new Construct(parent, instances ? 'ModelRunner' : toPascalCase(name))
  const logGroup = new LogGroup(scope, 'Logs', {
    retention: settings.logRetentionDays,
    removalPolicy: RemovalPolicy.DESTROY,
  })
  const role = new Role(scope, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })
  logGroup.grantWrite(role)
  applyGrant(role, name, { table, queues })
  const runsAgents = AGENT_FUNCTIONS.includes(name)
  if (runsAgents) grantAgentPermissions(role, settings)
  if (runsAgents && vpcConfig) grantNetworkInterfaces(role)
  if (usesModels(name, settings)) grantEmbeddings(role, settings)
  if (name === 'deliver-events' && settings.eventBus) grantEventBus(role, settings.eventBus)
  const lambda = new Lambda(scope, 'Function', {
    description: getDescription(name),
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    code: Code.fromAsset(join(bundles, name)),
    handler: 'index.handler',
    environment: { ...createEnvironment(name, props), ...(instances && { [variables.SHARED_WORKER]: 'on' }) },
    timeout: Duration.seconds(timeoutSeconds),
    memorySize: instances ? INSTANCES.memoryMb : runsAgents ? settings.agentMemoryMb : memoryMb,
    role,
    logGroup,
    loggingFormat: LoggingFormat.JSON,
    // Of invocations, Lambda then logs only failures and timeouts:
    // https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-log-level.html
    systemLogLevelV2: SystemLogLevel.WARN,
    tracing: Tracing.ACTIVE,
    ...(reserved !== undefined && { reservedConcurrentExecutions: reserved }),
    ...(RECURSIVE_FUNCTIONS.includes(name) && { recursiveLoop: RecursiveLoop.ALLOW }),
    // Earlier releases are retained, so that the alias can return to them, but not a version of a release that failed:
    // Lambda would not publish the same code again ("A version for this Lambda function exists").
    // On managed instances, each version has instances of its own.
    currentVersionOptions: {
      removalPolicy: instances ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    },
  })
  instances?.addFunction(lambda, {
    perExecutionEnvironmentMaxConcurrency: INSTANCES.concurrency,
    executionEnvironmentMemoryGiBPerVCpu: INSTANCES.gibPerVcpu,
  })
  if (runsAgents && vpcConfig) (lambda.node.defaultChild as CfnFunction).vpcConfig = vpcConfig
  // Its declared type lacks an `undefined` that exactOptionalPropertyTypes requires.
  return { function: lambda, live: lambda.addAlias(LIVE) as ServiceFunction['live'] }
}

/** Of the functions that accept runs and wait for them. */
const DEADLINES: Partial<Record<FunctionName, typeof SYNC_DEADLINE_MS | typeof MCP_DEADLINE_MS>> = {
  'run-agent': SYNC_DEADLINE_MS,
  'serve-mcp': MCP_DEADLINE_MS,
}

/** Functions that start runs: those of requests, lines of batches and firings of schedules. */
const STARTING_FUNCTIONS: FunctionName[] = [...AGENT_FUNCTIONS, 'manage-schedules', 'rerun-execution']

/** Functions that accept a URL for the events of what they start. */
const WEBHOOK_URL_FUNCTIONS: FunctionName[] = ['run-agent', 'manage-batches']

/** Whether the function calls models: it runs agents, or stores what an embedding model makes of rated inputs. */
export const usesModels = (
  name: FunctionName,
  { embeddingModel }: Pick<ServiceSettings, 'embeddingModel'>,
): boolean => AGENT_FUNCTIONS.includes(name) || (name === 'give-feedback' && embeddingModel !== null)

const createAuditRetention = ({ auditRetentionDays }: Pick<ServiceSettings, 'auditRetentionDays'>) => ({
  [variables.AUDIT_RETENTION_DAYS]: String(auditRetentionDays),
})

const createRetention = ({
  executionRetentionDays,
  maxWaitDays,
}: Pick<ServiceSettings, 'executionRetentionDays' | 'maxWaitDays'>) =>
  executionRetentionDays && {
    [variables.EXECUTION_RETENTION_DAYS]: String(executionRetentionDays),
    // Items are kept until after the latest possible end of their execution.
    [variables.MAX_WAIT_DAYS]: String(maxWaitDays),
  }

const createEventBus = ({ eventBus }: Pick<ServiceSettings, 'eventBus'>) =>
  eventBus && { [variables.EVENT_BUS]: eventBus }

/** What decides how long items are kept, and whether events are marked. */
export const createTableEnvironment = (settings: ServiceSettings) => ({
  ...createAuditRetention(settings),
  ...createRetention(settings),
  ...createEventBus(settings),
})

/** The functions read these variables by the same constants of `lib/environment.ts`. */
function createEnvironment(
  name: FunctionName,
  { table, queues, settings, defaultModel }: Parameters<typeof createFunction>[2],
) {
  const { corsOrigins, responseStreaming, maxWaitDays } = settings
  const operations = operationsOf(name).map((each) => getOperation(each))
  const deadlines = DEADLINES[name]
  const ofOrganization = divideConcurrency(settings).ofOrganization[name]
  return {
    [variables.TABLE_NAME]: table.tableName,
    ...(isPaused(settings) && { [variables.PAUSED]: 'on' }),
    [variables.METRICS_NAMESPACE]: settings.name,
    ...createRetention(settings),
    ...(GRANTS[name].queue && {
      [variables.QUEUE_URL]: queues.queue.queueUrl,
      [variables.MODEL_QUEUE_URL]: queues.modelQueue.queueUrl,
    }),
    ...((getAuditPrefix(name) !== null || AUDIT_READERS.includes(name)) && createAuditRetention(settings)),
    // What is to be delivered is marked if there is a destination.
    ...((getAuditPrefix(name) !== null || GRANTS[name].deliveryQueue) && createEventBus(settings)),
    ...(GRANTS[name].deliveryQueue && {
      [variables.DELIVERY_QUEUE_URL]: queues.deliveryQueue.queueUrl,
    }),
    ...([...SECRET_FUNCTIONS, 'publish-agent'].includes(name) &&
      settings.webhookHosts && { [variables.WEBHOOK_HOSTS]: settings.webhookHosts }),
    ...(WEBHOOK_URL_FUNCTIONS.includes(name) && settings.webhookUrls && { [variables.WEBHOOK_URLS]: 'on' }),
    ...(MODEL_FUNCTIONS.includes(name) && {
      [variables.DEFAULT_MODEL]: defaultModel,
      ...(settings.modelPrices && { [variables.MODEL_PRICES]: settings.modelPrices }),
      ...(settings.modelEndpoints && { [variables.MODEL_ENDPOINTS]: settings.modelEndpoints }),
    }),
    ...(usesModels(name, settings) && {
      [variables.SECRETS_PREFIX]: getSecretsPath(settings),
      ...(settings.modelEndpoints && { [variables.MODEL_ENDPOINTS]: settings.modelEndpoints }),
      ...(settings.embeddingModel && { [variables.EMBEDDING_MODEL]: settings.embeddingModel }),
      // The names of the parameters with API keys. Functions read the values at run time.
      ...Object.fromEntries(
        STACK_KEYS.map(({ setting, variable }) => [variable, settings[setting]]).filter(([, name]) => name),
      ),
    }),
    ...(AGENT_FUNCTIONS.includes(name) && {
      // The rest is for the worker, its SDKs and payloads.
      [variables.AGENT_MEMORY_MB]: String(Math.floor(settings.agentMemoryMb / 2)),
    }),
    // Agents give it to others, and events link to their executions.
    ...([...AGENT_FUNCTIONS, ...SECRET_FUNCTIONS].includes(name) &&
      settings.publicUrl && { [variables.PUBLIC_URL]: parsePublicUrl(settings.publicUrl) }),
    ...createIdentityEnvironment(name, settings),
    ...(name === 'publish-agent' && !settings.httpPublishing && { [variables.HTTP_PUBLISHING]: 'off' }),
    ...(operations.length > 0 && corsOrigins && { [variables.CORS_ORIGINS]: corsOrigins }),
    ...(responseStreaming &&
      operations.some(({ streams }) => streams) && { [variables.RESPONSE_STREAMING]: 'on' }),
    ...(operations.some(({ body }) => body) && {
      [variables.LARGE_BODY_MB_PER_MINUTE]: String(settings.largeBodyMbPerMinute),
    }),
    ...(ofOrganization !== undefined && { [variables.ORGANIZATION_CONCURRENCY]: String(ofOrganization) }),
    ...(STARTING_FUNCTIONS.includes(name) && {
      [variables.MAX_OPEN_EXECUTIONS]: String(settings.maxOpenExecutions),
      [variables.MAX_SUSPENDED_EXECUTIONS]: String(settings.maxSuspendedExecutions),
      [variables.MAX_WAIT_DAYS]: String(maxWaitDays),
    }),
    ...(deadlines && {
      [variables.SYNC_DEADLINE_SECONDS]: String(
        deadlines[responseStreaming ? 'streamed' : 'buffered'] / 1000,
      ),
    }),
  }
}

/** The authorizer checks tokens, the endpoints name the issuer, and the console signs in. */
function createIdentityEnvironment(
  name: FunctionName,
  {
    oidcIssuer,
    oidcAudience,
    oidcMapping,
    oidcClientId,
    oidcScope,
    oidcTokenOrigin,
    publicUrl,
  }: ServiceSettings,
): Record<string, string> {
  if (!oidcIssuer || !oidcAudience || !oidcMapping) return {}
  const issuer = { [variables.OIDC_ISSUER]: oidcIssuer }
  const audience = { [variables.OIDC_AUDIENCE]: oidcAudience }
  if (name === 'authorize-request') return { ...issuer, ...audience, [variables.OIDC_MAPPING]: oidcMapping }
  if (operationsOf(name).length === 0) return {}
  if (name === functionOf('get-resource-metadata'))
    return {
      ...issuer,
      [variables.OIDC_MAPPING]: oidcMapping,
      ...(publicUrl && { [variables.PUBLIC_URL]: parsePublicUrl(publicUrl) }),
    }
  if (name !== 'serve-console' || !oidcClientId) return issuer
  return {
    ...issuer,
    ...audience,
    [variables.OIDC_CLIENT_ID]: oidcClientId,
    [variables.OIDC_SCOPE]: oidcScope ?? toSignInScope(oidcIssuer, oidcMapping),
    ...(oidcTokenOrigin && { [variables.OIDC_TOKEN_ORIGIN]: oidcTokenOrigin }),
  }
}

const toPascalCase = (name: string) =>
  name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Connects the queues and the schedule to their functions. */
export function createTriggers(
  scope: Construct,
  functions: Functions,
  {
    modelRunner,
    queues,
    settings,
  }: { modelRunner: ServiceFunction; queues: Queues; settings: ServiceSettings },
): void {
  const paused = isPaused(settings) && { enabled: false }
  const { queue, modelQueue, deadLetterQueue, deliveryQueue } = queues
  const runner = { reportBatchItemFailures: true, maxConcurrency: settings.runnerConcurrency, ...paused }
  functions['process-execution'].live.addEventSource(new SqsEventSource(queue, { ...runner, batchSize: 1 }))
  // Without a batching window, which can delay runs by 20 s: batches fill while all runners are busy.
  modelRunner.live.addEventSource(
    new SqsEventSource(modelQueue, {
      ...runner,
      // On managed instances, invocations share a process: each run has its own, which ends with it.
      ...(modelRunner === functions['process-execution']
        ? { batchSize: settings.runnerBatch }
        : { batchSize: 1, maxConcurrency: toInstanceConcurrency(settings) }),
    }),
  )
  const reserved = divideConcurrency(settings).reserved['process-dead-letter']
  functions['process-dead-letter'].live.addEventSource(
    new SqsEventSource(deadLetterQueue, {
      batchSize: 10,
      reportBatchItemFailures: true,
      // A mapping does not know of a reservation, and would have its invocations throttled:
      // https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html
      ...(reserved !== undefined && { maxConcurrency: reserved }),
      ...paused,
    }),
  )
  functions['deliver-events'].live.addEventSource(
    new SqsEventSource(deliveryQueue, {
      batchSize: 10,
      reportBatchItemFailures: true,
      maxConcurrency: DELIVERY_CONCURRENCY,
      ...paused,
    }),
  )
  new Rule(scope, 'SweepSchedule', {
    ...paused,
    schedule: Schedule.rate(Duration.minutes(1)),
    // The next scheduled sweep replaces a retry.
    targets: [new LambdaFunction(functions['sweep-executions'].live, { retryAttempts: 0 })],
  })
}
