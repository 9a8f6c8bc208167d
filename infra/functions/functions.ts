import { join } from 'node:path'
import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
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
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { SHARED_WORKER } from '../../lib/environment.ts'
import type { ServiceSettings } from '../settings.ts'
import { logGroupProps, type Queues } from '../storage.ts'
import { applyGrant } from './apply-grant.ts'
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
  grantAccountSettings,
  grantAgentPermissions,
  grantEmbeddings,
  grantEventBus,
  grantTraceHeaders,
} from './permissions.ts'
import { createRunnerInstances, INSTANCES } from './runner-instances.ts'
import { createVpcConfig, grantNetworkInterfaces } from './vpc.ts'

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
 * runs, unless it runs on managed instances, as `run-agent` then does.
 */
export function createFunctions(
  scope: Construct,
  props: FunctionsProps,
): { functions: Functions; modelRunner: ServiceFunction } {
  const { settings } = props
  const defaultModel = settings.defaultModel ?? findDefaultModel(scope)
  const vpcConfig = createVpcConfig(scope, settings)
  const { runnerInstanceVcpus } = settings
  const instances =
    runnerInstanceVcpus && vpcConfig ? createRunnerInstances(scope, vpcConfig, runnerInstanceVcpus) : null
  const create = (name: FunctionName) => createFunction(scope, name, { ...props, defaultModel, vpcConfig })
  const createShared = (name: FunctionName, on: CapacityProvider) =>
    createFunction(scope, name, { ...props, defaultModel, vpcConfig: null, instances: on })
  const functions = Object.fromEntries(
    FUNCTION_NAMES.map((name) => [
      name,
      instances && name === 'run-agent' ? createShared(name, instances) : create(name),
    ]),
  ) as Functions
  const runner = functions['process-execution']
  return { functions, modelRunner: instances ? createShared('process-execution', instances) : runner }
}

/** A function of its own: Lambda does not return one from instances. */
const SHARED_SCOPES: Partial<Record<FunctionName, string>> = {
  'process-execution': 'ModelRunner',
  'run-agent': 'RunAgentShared',
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
  const scope = new Construct(parent, (instances && SHARED_SCOPES[name]) || toPascalCase(name))
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
