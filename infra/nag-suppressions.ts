import { Validations } from 'aws-cdk-lib'
import type { IConstruct } from 'constructs'
import { usesModels } from './functions/environment.ts'
import { AGENT_FUNCTIONS, FUNCTION_NAMES, type FunctionName } from './functions/function-settings.ts'
import { getSecretsPath, TOOL_FUNCTION_PREFIX } from './functions/permissions.ts'
import type { AgentExecutionService } from './service.ts'
import type { ServiceSettings } from './settings.ts'

/** A cdk-nag finding that is accepted on some constructs, and why. */
type Suppression = {
  id: string
  reason: string
  constructs: (service: AgentExecutionService) => IConstruct[]
}

const rolesOf =
  (isIncluded: (name: FunctionName, settings: ServiceSettings) => boolean) =>
  ({ functions, settings }: AgentExecutionService) =>
    FUNCTION_NAMES.filter((name) => isIncluded(name, settings)).flatMap(
      (name) => functions[name].function.role ?? [],
    )

const withModelRunner =
  (isIncluded: Parameters<typeof rolesOf>[0]) =>
  (service: AgentExecutionService): IConstruct[] => [
    ...new Set([...rolesOf(isIncluded)(service), service.modelRunner.function.role ?? []].flat()),
  ]

/** Of Lambda, if it manages instances of the runner. */
const operatorRole = ({ node }: AgentExecutionService) =>
  [node.tryFindChild('RunnerInstances')?.node.findChild('OperatorRole')].filter((role) => role !== undefined)

/** Of CodeDeploy, if it moves the aliases. */
const releaseRole = ({ node }: AgentExecutionService) =>
  [node.tryFindChild('Release')?.node.findChild('Role')].filter((role) => role !== undefined)

const API_FINDINGS = {
  APIG2:
    'The functions validate every request and return problem details, which the validator of API Gateway cannot.',
  APIG3: 'A web ACL has a fixed monthly price, so it is optional: see the setting webAcl.',
  APIG6:
    'The stage has an access log. Execution logs cost more, add little, and can contain the data of clients.',
  'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
    'AWS documents this managed policy for the CloudWatch role of API Gateway in an account.',
}

const MODELS = 'Agents name their models. Access to the models of an account is granted in Amazon Bedrock.'
const SECRETS = 'Agents name the secrets of their tools. This path contains nothing else.'
const TOOLS = 'Agents name the Lambda functions that are their tools. Only tool functions have this prefix.'

const OWN = '<AWS::Region>:<AWS::AccountId>'

/** Why agents have access to resources whose names they choose. */
const agentResources = (service: { name: string }) => ({
  'bedrock:*::foundation-model/*': MODELS,
  [`bedrock:${OWN}:inference-profile/*`]: MODELS,
  [`bedrock:${OWN}:application-inference-profile/*`]: MODELS,
  [`ssm:${OWN}:parameter${getSecretsPath(service)}/*`]: SECRETS,
  [`secretsmanager:${OWN}:secret:${getSecretsPath(service)}/*`]: SECRETS,
  [`lambda:${OWN}:function:${TOOL_FUNCTION_PREFIX}*`]: TOOLS,
})

export const listSuppressions = (service: { name: string }): Suppression[] => [
  ...Object.entries(API_FINDINGS).map(([finding, reason]) => ({
    id: `AwsSolutions-${finding}`,
    reason,
    constructs: ({ api }: AgentExecutionService) => [api],
  })),
  {
    id: 'AwsSolutions-SQS3',
    reason:
      'The sweeper sends the message of an event again until the event is handled, so that a dead letter would be of no use.',
    constructs: ({ deliveryQueue }) => [deliveryQueue],
  },
  {
    id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
    reason:
      'AWS documents this managed policy for CodeDeploy. It moves aliases and reads alarms, and invokes nothing of the stack.',
    constructs: releaseRole,
  },
  {
    id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/AWSLambdaManagedEC2ResourceOperator]',
    reason:
      'AWS documents this managed policy for Lambda to start and end the instances of a capacity provider. It changes nothing else.',
    constructs: operatorRole,
  },
  {
    id: 'AwsSolutions-IAM5[Resource::*]',
    reason:
      'The X-Ray actions, lambda:GetAccountSettings, and those that describe network interfaces and subnets for vpcId, do not support resource-level permissions. Template tests allow no other wildcard.',
    constructs: withModelRunner(() => true),
  },
  {
    id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ec2:${OWN}:*/*]`,
    reason:
      'With vpcId. Lambda requires all resources, because the network interfaces do not exist yet. The code of agents is denied these actions.',
    constructs: rolesOf(
      (name, { runnerInstanceVcpus }) =>
        AGENT_FUNCTIONS.includes(name) && (runnerInstanceVcpus === null || name !== 'run-agent'),
    ),
  },
  ...Object.entries(agentResources(service)).map(([resource, reason]) => ({
    id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:${resource}]`,
    reason,
    constructs: withModelRunner(usesModels),
  })),
]

/** Acknowledges the findings of cdk-nag on a service that are accepted. */
export function suppressFindings(service: AgentExecutionService): void {
  for (const { id, reason, constructs } of listSuppressions(service))
    for (const construct of constructs(service)) Validations.of(construct).acknowledge({ id, reason })
}
