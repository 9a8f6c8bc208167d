import { join } from 'node:path'
import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import type { Table } from 'aws-cdk-lib/aws-dynamodb'
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
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { type Operation, operations } from '../../lib/api/routes.ts'
import { SYNC_DEADLINE_MS } from '../../lib/core/limits.ts'
import {
  ANTHROPIC_API_KEY_PARAMETER,
  DEFAULT_MODEL,
  EXECUTION_RETENTION_DAYS,
  MAX_OPEN_EXECUTIONS,
  METRICS,
  OPENAI_API_KEY_PARAMETER,
  QUEUE_URL,
  RESPONSE_STREAMING,
  SECRETS_PREFIX,
  SYNC_DEADLINE_SECONDS,
  TABLE_NAME,
} from '../../lib/environment.ts'
import type { Settings } from '../settings.ts'
import { grantAgentPermissions, SECRETS_PATH } from './agent-permissions.ts'
import {
  ENDS_EXECUTIONS,
  FUNCTION_NAMES,
  type FunctionName,
  RECURSIVE_FUNCTIONS,
  RUNS_AGENTS,
  settingsOf,
} from './function-settings.ts'
import { applyGrant, GRANTS } from './grants.ts'

export type FunctionsProps = {
  table: Table
  queue: Queue
  /** Holds a folder with an `index.mjs` for each function. */
  bundles: string
  settings: Settings
}

export type Functions = Record<FunctionName, Lambda>

/** One Lambda function for each file of `functions/`. */
export function createFunctions(scope: Construct, props: FunctionsProps): Functions {
  const entries = FUNCTION_NAMES.map((name) => [name, createFunction(scope, name, props)])
  return Object.fromEntries(entries) as Functions
}

/** Its role and log group are its own: it can write no other log, and what it may do is seen in one place. */
function createFunction(parent: Construct, name: FunctionName, props: FunctionsProps): Lambda {
  const { table, queue, bundles, settings } = props
  const { timeoutSeconds, memoryMb } = settingsOf(name)
  const scope = new Construct(parent, pascalCase(name))
  const logGroup = new LogGroup(scope, 'Logs', {
    retention: settings.logRetentionDays,
    removalPolicy: RemovalPolicy.DESTROY,
  })
  const role = new Role(scope, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })
  logGroup.grantWrite(role)
  applyGrant(role, GRANTS[name], { table, queue })
  if (RUNS_AGENTS.includes(name)) grantAgentPermissions(role, settings)
  return new Lambda(scope, 'Function', {
    description: descriptionOf(name),
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    code: Code.fromAsset(join(bundles, name)),
    handler: 'index.handler',
    environment: environmentOf(name, props),
    timeout: Duration.seconds(timeoutSeconds),
    memorySize: RUNS_AGENTS.includes(name) ? settings.agentMemoryMb : memoryMb,
    role,
    logGroup,
    loggingFormat: LoggingFormat.JSON,
    tracing: Tracing.ACTIVE,
    ...(RECURSIVE_FUNCTIONS.includes(name) && { recursiveLoop: RecursiveLoop.ALLOW }),
  })
}

/** Names of variables come from `lib/environment.ts`, as for the functions that read them. */
function environmentOf(name: FunctionName, { table, queue, settings }: FunctionsProps) {
  const { responseStreaming, defaultModel, maxOpenExecutions, executionRetentionDays } = settings
  return {
    [TABLE_NAME]: table.tableName,
    ...(executionRetentionDays && { [EXECUTION_RETENTION_DAYS]: String(executionRetentionDays) }),
    ...(GRANTS[name].queue && { [QUEUE_URL]: queue.queueUrl }),
    ...(RUNS_AGENTS.includes(name) && {
      [DEFAULT_MODEL]: defaultModel,
      [SECRETS_PREFIX]: SECRETS_PATH,
      ...keyParametersOf(settings),
    }),
    ...(ENDS_EXECUTIONS.includes(name) && { [METRICS]: 'on' }),
    ...(operationNamed(name)?.streams && responseStreaming && { [RESPONSE_STREAMING]: 'on' }),
    ...(name === 'run-agent' && {
      [MAX_OPEN_EXECUTIONS]: String(maxOpenExecutions),
      [SYNC_DEADLINE_SECONDS]: String(SYNC_DEADLINE_MS[responseStreaming ? 'streamed' : 'buffered'] / 1000),
    }),
  }
}

/** The names of the parameters that hold API keys; the values never come here. */
const keyParametersOf = ({ openaiKeyParameter, anthropicKeyParameter }: Settings) => ({
  ...(openaiKeyParameter && { [OPENAI_API_KEY_PARAMETER]: openaiKeyParameter }),
  ...(anthropicKeyParameter && { [ANTHROPIC_API_KEY_PARAMETER]: anthropicKeyParameter }),
})

const OTHER_DESCRIPTIONS: Record<string, string> = {
  'authorize-request': 'Checks the API token of a request',
  'process-execution': 'Runs the executions that wait in the queue',
  'process-dead-letter': 'Ends the executions whose messages were delivered in vain',
  'sweep-executions': 'Takes up executions that a crash left behind',
}

const descriptionOf = (name: FunctionName) =>
  operationNamed(name)?.summary ?? OTHER_DESCRIPTIONS[name] ?? name

const operationNamed = (name: FunctionName) => (operations as Partial<Record<FunctionName, Operation>>)[name]

const pascalCase = (name: string) => name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())
