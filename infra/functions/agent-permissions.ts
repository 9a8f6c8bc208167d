import { Stack } from 'aws-cdk-lib'
import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam'
import type { Settings } from '../settings.ts'

/** Path of the secrets of tools: `${secret:NAME}` is the SSM parameter or secret `<path>/NAME`. */
export const SECRETS_PATH = '/aes/secrets'

/** Agents can use the Lambda functions with this name prefix as tools. */
export const TOOL_FUNCTION_PREFIX = 'agent-tool-'

type KeyParameters = Pick<Settings, 'openaiKeyParameter' | 'anthropicKeyParameter'>

/** Allows what agents use: Bedrock models, API keys of other providers, secrets of tools, and Lambda functions as tools. */
export function grantAgentPermissions(
  role: Role,
  { openaiKeyParameter, anthropicKeyParameter }: KeyParameters,
): void {
  const { partition, region, account } = Stack.of(role)
  const arn = (service: string, resource: string, owner = account) =>
    `arn:${partition}:${service}:${region}:${owner}:${resource}`
  const allow = (actions: string[], resources: string[]) =>
    role.addToPolicy(new PolicyStatement({ actions, resources }))
  allow(
    ['bedrock:InvokeModel'],
    [
      // Cross-region inference profiles invoke models in other regions.
      `arn:${partition}:bedrock:*::foundation-model/*`,
      arn('bedrock', 'inference-profile/*'),
      arn('bedrock', 'application-inference-profile/*'),
    ],
  )
  const keys = [openaiKeyParameter, anthropicKeyParameter].filter((name) => name !== null)
  allow(
    ['ssm:GetParameter'],
    [`${SECRETS_PATH}/*`, ...keys].map((name) => arn('ssm', `parameter/${name.replace(/^\//, '')}`)),
  )
  allow(['secretsmanager:GetSecretValue'], [arn('secretsmanager', `secret:${SECRETS_PATH}/*`)])
  allow(['lambda:InvokeFunction'], [arn('lambda', `function:${TOOL_FUNCTION_PREFIX}*`)])
}
