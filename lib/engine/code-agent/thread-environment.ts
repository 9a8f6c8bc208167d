import { createHash } from 'node:crypto'
import type { Version } from '../../core/agent.ts'
import type { Environment } from '../../environment.ts'
import { SecretMask } from '../../tools/secret-mask.ts'

/** Visible to every agent. */
const COMMON = ['NODE_ENV', 'TZ']

export type ThreadEnvironment = {
  variables: Record<string, string>
  /** Of the variables. Runs with other ones use other threads: a changed secret is neither used nor unmasked. */
  hash: string
  /** Of the values of the variables that the document lists. */
  mask: SecretMask
}

/**
 * The environment of a version's threads: `NODE_ENV`, `TZ`, and what the document lists under `env`, read like the
 * secrets of tools. Nothing else, and never this process's credentials.
 * @throws ToolError if a variable cannot be read
 */
export async function openThreadEnvironment(
  { env }: Pick<Version, 'env'>,
  environment: Environment,
): Promise<ThreadEnvironment> {
  const common = COMMON.flatMap((name) => (environment[name] ? [[name, environment[name]] as const] : []))
  const variables = Object.fromEntries(common)
  if (env.length === 0) return { variables, hash: hashOf(variables), mask: new SecretMask() }
  const { openSecrets } = await import('../../tools/secrets.ts')
  const secrets = openSecrets(environment)
  const values = await Promise.all(env.map(async (name) => [name, await secrets.find(name)] as const))
  for (const [name, value] of values) if (value !== null) variables[name] = value
  return { variables, hash: hashOf(variables), mask: secrets.texts }
}

/** Most runs have the same variables as the last one. */
let last = { text: '', hash: '' }

function hashOf(variables: Record<string, string>): string {
  const text = JSON.stringify(variables)
  if (last.text !== text) last = { text, hash: createHash('sha256').update(text).digest('hex') }
  return last.hash
}
