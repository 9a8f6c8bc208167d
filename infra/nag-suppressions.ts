import { Validations } from 'aws-cdk-lib'
import type { IConstruct } from 'constructs'
import { operationOf, routes } from '../lib/api/routes.ts'
import { SECRETS_PATH, TOOL_FUNCTION_PREFIX } from './functions/agent-permissions.ts'
import { FUNCTION_NAMES, RUNS_AGENTS } from './functions/function-settings.ts'
import type { ServiceStack } from './stack.ts'

/** A finding of cdk-nag that stays, where it does, and why. */
export type Suppression = { id: string; reason: string; of: (stack: ServiceStack) => IConstruct[] }

const ofApi = ({ api }: ServiceStack) => [api]

const ofOpenRoutes = ({ api }: ServiceStack) =>
  routes
    .filter((route) => operationOf(route.function).public)
    .map(({ method, path }) => api.root.resourceForPath(path).node.findChild(method))

const rolesOf =
  (names: typeof FUNCTION_NAMES) =>
  ({ functions }: ServiceStack) =>
    names.flatMap((name) => functions[name].role ?? [])

const OWN = '<AWS::Region>:<AWS::AccountId>'

const ofAgents = (service: string, resource: string, reason: string): Suppression => ({
  id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:${service}:${resource}]`,
  reason,
  of: rolesOf(RUNS_AGENTS),
})

const MODELS =
  'Those who publish agents name their models; which ones the account may use is granted in Bedrock.'
const SECRETS = 'Those who publish agents name the secrets of their tools; this path holds nothing else.'
const TOOLS = 'Those who publish agents name the functions that are tools; only these have the prefix.'

export const SUPPRESSIONS: Suppression[] = [
  {
    id: 'AwsSolutions-COG4',
    reason:
      'API tokens are the service’s own, checked by its Lambda authorizer; clients are programs, not users of a pool.',
    of: ofApi,
  },
  {
    id: 'AwsSolutions-APIG2',
    reason:
      'The functions check every request and answer with problem details, which API Gateway’s validator cannot.',
    of: ofApi,
  },
  {
    id: 'AwsSolutions-APIG3',
    reason: 'A web ACL costs a fixed price a month, so the operator decides: the setting webAcl.',
    of: ofApi,
  },
  {
    id: 'AwsSolutions-APIG6',
    reason:
      'There is an access log. Execution logs cost more, tell little more, and may hold what clients sent.',
    of: ofApi,
  },
  {
    id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
    reason: 'The role of the account’s API Gateway for its logs; this policy is the one that AWS asks for.',
    of: ofApi,
  },
  {
    id: 'AwsSolutions-APIG4',
    reason:
      'The health check says whether the service works and nothing else; load balancers and monitors have no token.',
    of: ofOpenRoutes,
  },
  {
    id: 'AwsSolutions-IAM5[Resource::*]',
    reason:
      'X-Ray knows no resources for the two actions that trace. A template test allows no other use of it.',
    of: rolesOf(FUNCTION_NAMES),
  },
  ofAgents('bedrock', '*::foundation-model/*', MODELS),
  ofAgents('bedrock', `${OWN}:inference-profile/*`, MODELS),
  ofAgents('bedrock', `${OWN}:application-inference-profile/*`, MODELS),
  ofAgents('ssm', `${OWN}:parameter${SECRETS_PATH}/*`, SECRETS),
  ofAgents('secretsmanager', `${OWN}:secret:${SECRETS_PATH}/*`, SECRETS),
  ofAgents('lambda', `${OWN}:function:${TOOL_FUNCTION_PREFIX}*`, TOOLS),
]

export function suppressFindings(stack: ServiceStack): void {
  for (const { id, reason, of } of SUPPRESSIONS)
    for (const construct of of(stack)) Validations.of(construct).acknowledge({ id, reason })
}
