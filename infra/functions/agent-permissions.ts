import { Stack } from 'aws-cdk-lib'
import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam'
import { type KeySetting, STACK_KEYS } from '../../lib/models/providers/providers.ts'
import type { Settings } from '../settings.ts'

/** Path of the secrets of tools: `${secret:NAME}` is the SSM parameter or secret `<path>/NAME`. Each stack has its own. */
export const getSecretsPath = ({ stackName }: { stackName: string }): string => `/aes/${stackName}/secrets`

/** Agents can use the Lambda functions with this name prefix as tools. */
export const TOOL_FUNCTION_PREFIX = 'agent-tool-'

type AgentSettings = Pick<Settings, 'stackName' | KeySetting>

/** Allows what agents use: Bedrock models, API keys of other providers, secrets of tools, and Lambda functions as tools. */
export function grantAgentPermissions(role: Role, settings: AgentSettings): void {
  const secretsPath = getSecretsPath(settings)
  const { partition, region, account } = Stack.of(role)
  const arn = (service: string, resource: string, owner = account) =>
    `arn:${partition}:${service}:${region}:${owner}:${resource}`
  const allow = (actions: string[], resources: string[]) =>
    role.addToPolicy(new PolicyStatement({ actions, resources }))
  allow(
    ['bedrock:InvokeModelWithResponseStream'],
    [
      // A request to an inference profile needs permission for the profile and for the model in every region that the
      // profile routes to: https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-prereq.html
      `arn:${partition}:bedrock:*::foundation-model/*`,
      arn('bedrock', 'inference-profile/*'),
      arn('bedrock', 'application-inference-profile/*'),
    ],
  )
  const keys = STACK_KEYS.map(({ setting }) => settings[setting]).filter((name) => name !== null)
  allow(
    ['ssm:GetParameter'],
    [`${secretsPath}/*`, ...keys].map((name) => arn('ssm', `parameter/${name.replace(/^\//, '')}`)),
  )
  allow(['secretsmanager:GetSecretValue'], [arn('secretsmanager', `secret:${secretsPath}/*`)])
  allow(['lambda:InvokeFunction'], [arn('lambda', `function:${TOOL_FUNCTION_PREFIX}*`)])
}
