import { Stack } from 'aws-cdk-lib'
import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam'

/** Path of the secrets that tools may name: `${secret:NAME}` is the parameter or secret `<prefix>/NAME`. */
export const SECRETS_PATH = '/aes/secrets'

/** Lambda functions that agents may have as tools are those of this prefix. */
export const TOOL_FUNCTION_PREFIX = 'agent-tool-'

/** What agents need beyond the service itself: models of Bedrock, secrets of their tools, functions as tools. */
export function allowAgents(role: Role): void {
  const { partition, region, account } = Stack.of(role)
  const arn = (service: string, resource: string, owner = account) =>
    `arn:${partition}:${service}:${region}:${owner}:${resource}`
  const allow = (actions: string[], resources: string[]) =>
    role.addToPolicy(new PolicyStatement({ actions, resources }))
  allow(
    ['bedrock:InvokeModel'],
    [
      // An inference profile calls models of other regions.
      `arn:${partition}:bedrock:*::foundation-model/*`,
      arn('bedrock', 'inference-profile/*'),
      arn('bedrock', 'application-inference-profile/*'),
    ],
  )
  allow(['ssm:GetParameter'], [arn('ssm', `parameter${SECRETS_PATH}/*`)])
  allow(['secretsmanager:GetSecretValue'], [arn('secretsmanager', `secret:${SECRETS_PATH}/*`)])
  allow(['lambda:InvokeFunction'], [arn('lambda', `function:${TOOL_FUNCTION_PREFIX}*`)])
}
