import { join } from 'node:path'
import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import type { Table } from 'aws-cdk-lib/aws-dynamodb'
import { Rule, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets'
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import {
  Architecture,
  Code,
  Function as Lambda,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  Tracing,
} from 'aws-cdk-lib/aws-lambda'
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { getOperation, operationsOf } from '../../lib/api/routes.ts'
import { MCP_DEADLINE_MS, SYNC_DEADLINE_MS } from '../../lib/core/limits.ts'
import {
  AGENT_MEMORY_MB,
  CORS_ORIGINS,
  DEFAULT_MODEL,
  EXECUTION_RETENTION_DAYS,
  HTTP_PUBLISHING,
  LARGE_BODY_MB_PER_MINUTE,
  MAX_OPEN_EXECUTIONS,
  METRICS_NAMESPACE,
  MODEL_PRICES,
  QUEUE_URL,
  RESPONSE_STREAMING,
  SECRETS_PREFIX,
  SYNC_DEADLINE_SECONDS,
  TABLE_NAME,
} from '../../lib/environment.ts'
import { STACK_KEYS } from '../../lib/models/providers/provider-settings.ts'
import type { Settings } from '../settings.ts'
import { findDefaultModel } from './default-model.ts'
import {
  AGENT_FUNCTIONS,
  FUNCTION_NAMES,
  type FunctionName,
  getFunctionSettings,
  MODEL_FUNCTIONS,
  RECURSIVE_FUNCTIONS,
} from './function-settings.ts'
import { applyGrant, GRANTS, getSecretsPath, grantAgentPermissions } from './grants.ts'

export type FunctionsProps = {
  table: Table
  queue: Queue
  /** The output folder of `bundleFunctions`. */
  bundles: string
  settings: Settings
}

export type Functions = Record<FunctionName, Lambda>

/** Creates one Lambda function per file of `functions/`. */
export function createFunctions(scope: Construct, props: FunctionsProps): Functions {
  const defaultModel = props.settings.defaultModel ?? findDefaultModel(scope)
  const entries = FUNCTION_NAMES.map((name) => [
    name,
    createFunction(scope, name, { ...props, defaultModel }),
  ])
  return Object.fromEntries(entries) as Functions
}

type FunctionProps = FunctionsProps & { defaultModel: string }

/** Each function has its own role and log group, so that its policy contains all of its permissions and no others. */
function createFunction(parent: Construct, name: FunctionName, props: FunctionProps): Lambda {
  const { table, queue, bundles, settings } = props
  const { timeoutSeconds, memoryMb } = getFunctionSettings(name)
  const scope = new Construct(parent, toPascalCase(name))
  const logGroup = new LogGroup(scope, 'Logs', {
    retention: settings.logRetentionDays,
    removalPolicy: RemovalPolicy.DESTROY,
  })
  const role = new Role(scope, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })
  logGroup.grantWrite(role)
  applyGrant(role, name, { table, queue })
  if (AGENT_FUNCTIONS.includes(name)) grantAgentPermissions(role, settings)
  return new Lambda(scope, 'Function', {
    description: getDescription(name),
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    code: Code.fromAsset(join(bundles, name)),
    handler: 'index.handler',
    environment: createEnvironment(name, props),
    timeout: Duration.seconds(timeoutSeconds),
    memorySize: AGENT_FUNCTIONS.includes(name) ? settings.agentMemoryMb : memoryMb,
    role,
    logGroup,
    loggingFormat: LoggingFormat.JSON,
    tracing: Tracing.ACTIVE,
    ...(name === 'stream-events' &&
      settings.streamConcurrency && { reservedConcurrentExecutions: settings.streamConcurrency }),
    ...(RECURSIVE_FUNCTIONS.includes(name) && { recursiveLoop: RecursiveLoop.ALLOW }),
  })
}

/** Of the functions that accept runs and wait for them. */
const DEADLINES: Partial<Record<FunctionName, typeof SYNC_DEADLINE_MS | typeof MCP_DEADLINE_MS>> = {
  'run-agent': SYNC_DEADLINE_MS,
  'serve-mcp': MCP_DEADLINE_MS,
}

/** The functions read these variables by the same constants of `lib/environment.ts`. */
function createEnvironment(name: FunctionName, { table, queue, settings, defaultModel }: FunctionProps) {
  const { corsOrigins, responseStreaming, maxOpenExecutions, executionRetentionDays, agentMemoryMb } =
    settings
  const hasBody = operationsOf(name).some((each) => getOperation(each).body)
  const deadlines = DEADLINES[name]
  return {
    [TABLE_NAME]: table.tableName,
    [METRICS_NAMESPACE]: settings.stackName,
    ...(executionRetentionDays && { [EXECUTION_RETENTION_DAYS]: String(executionRetentionDays) }),
    ...(GRANTS[name].queue && { [QUEUE_URL]: queue.queueUrl }),
    ...(MODEL_FUNCTIONS.includes(name) && {
      [DEFAULT_MODEL]: defaultModel,
      ...(settings.modelPrices && { [MODEL_PRICES]: settings.modelPrices }),
    }),
    ...(AGENT_FUNCTIONS.includes(name) && {
      [SECRETS_PREFIX]: getSecretsPath(settings),
      // The rest is for the worker, its SDKs and payloads.
      [AGENT_MEMORY_MB]: String(Math.floor(agentMemoryMb / 2)),
      ...createKeyParameters(settings),
    }),
    ...(name === 'publish-agent' && !settings.httpPublishing && { [HTTP_PUBLISHING]: 'off' }),
    ...(operationsOf(name).length > 0 && corsOrigins && { [CORS_ORIGINS]: corsOrigins }),
    ...(operationsOf(name).some((each) => getOperation(each).streams) &&
      responseStreaming && { [RESPONSE_STREAMING]: 'on' }),
    ...(hasBody && { [LARGE_BODY_MB_PER_MINUTE]: String(settings.largeBodyMbPerMinute) }),
    ...(deadlines && {
      [MAX_OPEN_EXECUTIONS]: String(maxOpenExecutions),
      [SYNC_DEADLINE_SECONDS]: String(deadlines[responseStreaming ? 'streamed' : 'buffered'] / 1000),
    }),
  }
}

/** Functions get the names of the parameters with API keys and read the values at run time. */
const createKeyParameters = (settings: Settings): Record<string, string> =>
  Object.fromEntries(
    STACK_KEYS.flatMap(({ setting, variable }) => {
      const parameter = settings[setting]
      return parameter ? [[variable, parameter]] : []
    }),
  )

const BACKGROUND_DESCRIPTIONS: Record<string, string> = {
  'authorize-request': 'Authorizes requests by their API token',
  'process-execution': 'Runs queued executions',
  'process-dead-letter': 'Ends executions whose messages exceeded maxReceiveCount',
  'sweep-executions': 'Requeues executions without a live lease and ends those past their deadline',
}

const getDescription = (name: FunctionName) =>
  operationsOf(name)
    .map((each) => getOperation(each).summary)
    .join('; ') ||
  BACKGROUND_DESCRIPTIONS[name] ||
  name

const toPascalCase = (name: string) =>
  name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())

const SWEEP_INTERVAL = Duration.minutes(1)

type Triggers = {
  functions: Functions
  queue: Queue
  deadLetterQueue: Queue
  settings: Pick<Settings, 'runnerConcurrency' | 'runnerBatch'>
}

/** Connects the queues and the schedule to their functions. */
export function createTriggers(
  scope: Construct,
  { functions, queue, deadLetterQueue, settings }: Triggers,
): void {
  functions['process-execution'].addEventSource(
    new SqsEventSource(queue, {
      batchSize: settings.runnerBatch,
      reportBatchItemFailures: true,
      maxConcurrency: settings.runnerConcurrency,
    }),
  )
  functions['process-dead-letter'].addEventSource(
    new SqsEventSource(deadLetterQueue, { batchSize: 10, reportBatchItemFailures: true }),
  )
  new Rule(scope, 'SweepSchedule', {
    schedule: Schedule.rate(SWEEP_INTERVAL),
    // The next scheduled sweep replaces a retry.
    targets: [new LambdaFunction(functions['sweep-executions'], { retryAttempts: 0 })],
  })
}
