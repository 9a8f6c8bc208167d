/** Permissions for everything but the table and the queues: models, secrets, other functions, the event bus. */
import { Stack, Token } from 'aws-cdk-lib'
import { PolicyStatement, type PolicyStatementProps, type Role } from 'aws-cdk-lib/aws-iam'
import { type KeySetting, STACK_KEYS } from '../../lib/models/providers/provider-settings.ts'
import type { ServiceSettings } from '../settings.ts'

/** Path of the secrets of tools: `${secret:NAME}` is the SSM parameter or secret `<path>/NAME` of the stack. */
export const getSecretsPath = ({ name }: { name: string }): string => `/aes/${name}/secrets`

/** Agents can use the Lambda functions with this name prefix as tools. */
export const TOOL_FUNCTION_PREFIX = 'agent-tool-'

export function addStatement(role: Role, service: string, statement: PolicyStatementProps): void {
  const actions = statement.actions?.map((action) => `${service}:${action}`) ?? []
  if (actions.length > 0 && statement.resources?.length)
    role.addToPolicy(new PolicyStatement({ ...statement, actions }))
}

/** Allows what agents use: Bedrock models, API keys of providers, secrets of tools, and Lambda functions as tools. */
export function grantAgentPermissions(
  role: Role,
  settings: Pick<ServiceSettings, 'name' | KeySetting>,
): void {
  const { allow, own } = permissionsOf(role)
  allow('bedrock', 'InvokeModelWithResponseStream', [
    // A request to an inference profile needs permission for the profile and for the model in every region that the
    // profile routes to: https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-prereq.html
    '*::foundation-model/*',
    `${own}:inference-profile/*`,
    `${own}:application-inference-profile/*`,
  ])
  grantSecrets(role, settings)
  allow('lambda', 'InvokeFunction', [`${own}:function:${TOOL_FUNCTION_PREFIX}*`])
}

/** Allows what the embedding model needs, if there is one. */
export function grantEmbeddings(
  role: Role,
  settings: Pick<ServiceSettings, 'name' | 'embeddingModel' | KeySetting>,
): void {
  if (settings.embeddingModel === null) return
  const isBedrock = settings.embeddingModel.startsWith('bedrock/')
  if (isBedrock) permissionsOf(role).allow('bedrock', 'InvokeModel', ['*::foundation-model/*'])
  else grantSecrets(role, settings)
}

/** Allows to put events on the bus of the setting `eventBus`, of this account or another one. */
export function grantEventBus(role: Role, eventBus: string): void {
  const { partition, region, account } = Stack.of(role)
  const own = `arn:${partition}:events:${region}:${account}:event-bus/${eventBus}`
  addStatement(role, 'events', {
    actions: ['PutEvents'],
    resources: [eventBus.startsWith('arn:') || Token.isUnresolved(eventBus) ? eventBus : own],
  })
}

/** Allows to read the quota of the account. The action supports no resource-level permissions. */
export const grantAccountSettings = (role: Role): void =>
  addStatement(role, 'lambda', { actions: ['GetAccountSettings'], resources: ['*'] })

/** Allows to read the secret with the headers of the requests that send traces. */
export function grantTraceHeaders(role: Role, settings: Pick<ServiceSettings, 'name' | 'otlpHeaders'>): void {
  const { allow, own } = permissionsOf(role)
  const path = `${getSecretsPath(settings)}/${settings.otlpHeaders}`
  allow('ssm', 'GetParameter', [`${own}:parameter/${path.replace(/^\//, '')}`])
  // Secrets Manager adds six characters to the name.
  allow('secretsmanager', 'GetSecretValue', [`${own}:secret:${path}-??????`])
}

/** Allows to read API keys of providers and secrets. */
function grantSecrets(role: Role, settings: Pick<ServiceSettings, 'name' | KeySetting>): void {
  const { allow, own } = permissionsOf(role)
  const secretsPath = getSecretsPath(settings)
  const keys = STACK_KEYS.map(({ setting }) => settings[setting]).filter((name) => name !== null)
  const parameters = [`${secretsPath}/*`, ...keys].map((name) => name.replace(/^\//, ''))
  allow(
    'ssm',
    'GetParameter',
    parameters.map((name) => `${own}:parameter/${name}`),
  )
  allow('secretsmanager', 'GetSecretValue', [`${own}:secret:${secretsPath}/*`])
}

function permissionsOf(role: Role) {
  const { partition, region, account } = Stack.of(role)
  const allow = (service: string, action: string, resources: string[]) =>
    addStatement(role, service, {
      actions: [action],
      resources: resources.map((resource) => `arn:${partition}:${service}:${resource}`),
    })
  return { allow, own: `${region}:${account}` }
}
