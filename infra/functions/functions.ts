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
import { SHARED_WORKER } from '../../lib/environment.ts'
import { isPaused, type ServiceSettings } from '../settings.ts'
import { logGroupProps, type Queues } from '../storage.ts'
import { divideConcurrency } from './concurrency.ts'
import { findDefaultModel } from './default-model.ts'
import { createEnvironment, usesModels } from './environment.ts'
import {
  AGENT_FUNCTIONS,
  FUNCTION_NAMES,
  type FunctionName,
  getDescription,
  getFunctionSettings,
  RECURSIVE_FUNCTIONS,
} from './function-settings.ts'
import {
  applyGrant,
  grantAccountSettings,
  grantAgentPermissions,
  grantEmbeddings,
  grantEventBus,
  grantNetworkInterfaces,
  grantTraceHeaders,
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
  const logGroup = new LogGroup(scope, 'Logs', logGroupProps(settings))
  const role = new Role(scope, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })
  logGroup.grantWrite(role)
  applyGrant(role, name, { table, queues })
  const runsAgents = AGENT_FUNCTIONS.includes(name)
  if (runsAgents) grantAgentPermissions(role, settings)
  if (runsAgents && vpcConfig) grantNetworkInterfaces(role)
  if (usesModels(name, settings)) grantEmbeddings(role, settings)
  if (name === 'deliver-events' && settings.eventBus) grantEventBus(role, settings.eventBus)
  if (name === 'sweep-executions' && settings.accountConcurrency === null) grantAccountSettings(role)
  if (name === 'deliver-events' && settings.otlpHeaders) grantTraceHeaders(role, settings)
  const lambda = new Lambda(scope, 'Function', {
    description: getDescription(name),
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    code: Code.fromAsset(join(bundles, name)),
    handler: 'index.handler',
    environment: { ...createEnvironment(name, props), ...(instances && { [SHARED_WORKER]: 'on' }) },
    timeout: Duration.seconds(timeoutSeconds),
    memorySize: instances ? INSTANCES.memoryMb : runsAgents ? settings.agentMemoryMb : memoryMb,
    role,
    logGroup,
    loggingFormat: LoggingFormat.JSON,
    // At WARN, Lambda logs only the failures and timeouts of invocations; at INFO also their memory and duration, which
    // depend on the agents: https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-log-level.html
    systemLogLevelV2: runsAgents ? SystemLogLevel.INFO : SystemLogLevel.WARN,
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
  const { runners, mappings } = divideConcurrency(settings)
  const runner = { reportBatchItemFailures: true, maxConcurrency: runners, ...paused }
  functions['process-execution'].live.addEventSource(new SqsEventSource(queue, { ...runner, batchSize: 1 }))
  // Without a batching window, which can delay runs by 20 s: batches fill while all runners are busy.
  modelRunner.live.addEventSource(
    new SqsEventSource(modelQueue, {
      ...runner,
      // On managed instances, invocations share a process: each run has its own, which ends with it.
      ...(modelRunner === functions['process-execution']
        ? { batchSize: settings.runnerBatch }
        : { batchSize: 1, maxConcurrency: toInstanceConcurrency({ runners, ...settings }) }),
    }),
  )
  const { deliveries, deadLetters } = mappings
  functions['process-dead-letter'].live.addEventSource(
    new SqsEventSource(deadLetterQueue, {
      batchSize: 10,
      reportBatchItemFailures: true,
      // A mapping does not know of a reservation, and would have its invocations throttled:
      // https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html
      ...(deadLetters !== undefined && { maxConcurrency: deadLetters }),
      ...paused,
    }),
  )
  functions['deliver-events'].live.addEventSource(
    new SqsEventSource(deliveryQueue, {
      batchSize: 10,
      reportBatchItemFailures: true,
      maxConcurrency: deliveries,
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
