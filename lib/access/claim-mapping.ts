import { isScope, isTenantId, MAX_TOKEN_AGENTS, SCOPES, type Scope } from '../core/access.ts'
import { isSlug, isUuid, namePattern } from '../core/ids.ts'
import { isJsonObject, type Json, type JsonObject } from '../core/json/json.ts'
import { JsonError, parseJson } from '../core/json/parse-json.ts'

/** Lambda allows 4 KB for all variables of a function. */
export const MAX_MAPPING_LENGTH = 2_500

export const MAPPING_RULE = `a JSON object such as \`{"organization": {"claim": "org", "values": {"acme": "<uuid>"}}, "scopes": {"claim": "scope"}}\`, at most ${MAX_MAPPING_LENGTH.toLocaleString('en-US')} characters`

/** The names that lead to a claim. `values`: what each of its texts stands for; null: for itself. */
export type FromClaim<T> = { claim: string[]; values: Map<string, T> | null }

/** What the claims of an identity provider give. Null: no restriction. */
export type ClaimMapping = {
  organization: string | FromClaim<string>
  tenant: (FromClaim<string> & { optional: boolean }) | null
  scopes: Scope[] | FromClaim<Scope[]>
  agents: string[] | FromClaim<string[]> | null
}

const MAX_PATH = 5
const CLAIM_NAME = namePattern(200)

/** @throws an Error that names the member and what is allowed */
export function parseMapping(text: string): ClaimMapping {
  const given = text.length <= MAX_MAPPING_LENGTH ? parseText(text) : undefined
  if (!isJsonObject(given)) throw new Error(`must be ${MAPPING_RULE.replaceAll('`', '')}.`)
  const { organization, tenant, scopes, agents, ...others } = given
  rejectOthers(others, '')
  return {
    organization: isUuidText(organization)
      ? organization.toLowerCase()
      : parseFromClaim(organization, 'organization', toOrganization, 'a UUID, or an object'),
    tenant: tenant === undefined ? null : parseTenant(tenant),
    scopes: isListOf(scopes, isScope) ? scopes : parseFromClaim(scopes, 'scopes', toScopes, SCOPE_LIST),
    agents:
      agents === undefined
        ? null
        : isAgentList(agents)
          ? agents
          : parseFromClaim(agents, 'agents', toAgents, AGENT_LIST),
  }
}

/** Undefined if it is not JSON. @throws an Error that names a member that is repeated */
function parseText(text: string): Json | undefined {
  try {
    return parseJson(text)
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    if (!error.names) return undefined
    const [member, part, ...values] = error.names
    const path = [member, part].filter((name) => name !== undefined).join('.')
    throw new Error(
      `${path}${values.map((name) => `[${JSON.stringify(name)}]`).join('')} appears more than once.`,
    )
  }
}

const SCOPE_LIST = `a list of ${SCOPES.join(', ')}, or an object`
const AGENT_LIST = `a list of 1 to ${MAX_TOKEN_AGENTS} slugs or IDs of agents, or an object`

const isUuidText = (value: unknown): value is string => typeof value === 'string' && isUuid(value)
export const isAgent = (text: string): text is string => isSlug(text) || isUuid(text)
const isAgentList = (value: unknown): value is string[] =>
  isListOf(value, isAgent) && value.length <= MAX_TOKEN_AGENTS

const isListOf = <T extends string>(value: unknown, isOne: (text: string) => text is T): value is T[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((each) => typeof each === 'string' && isOne(each)) &&
  new Set(value).size === value.length

export const toOrganization = (value: unknown) => (isUuidText(value) ? value.toLowerCase() : undefined)
const toScopes = (value: unknown) => (isListOf(value, isScope) ? value : undefined)
const toAgents = (value: unknown) => (isAgentList(value) ? value : undefined)
export const toTenant = (value: unknown) =>
  typeof value === 'string' && isTenantId(value) ? value : undefined

function parseTenant(given: unknown) {
  const { optional, ...rest } = isJsonObject(given) ? given : {}
  if (optional !== undefined && typeof optional !== 'boolean') fail('tenant.optional', 'true or false')
  const fromClaim = parseFromClaim(isJsonObject(given) ? rest : given, 'tenant', toTenant, 'an object')
  return { ...fromClaim, optional: optional === true }
}

/** @param allowed in place of or before the object */
function parseFromClaim<T>(
  given: unknown,
  name: keyof ClaimMapping,
  parseValue: (value: unknown) => T | undefined,
  allowed: string,
): FromClaim<T> {
  if (!isJsonObject(given))
    return fail(name, `${allowed} such as {"claim": "groups", "values": {"text of the claim": …}}`)
  const { claim, values, ...others } = given
  rejectOthers(others, `${name}.`)
  const path = [claim].flat()
  const isPath =
    path.length >= 1 &&
    path.length <= MAX_PATH &&
    path.every((each) => typeof each === 'string' && CLAIM_NAME.test(each))
  if (!isPath)
    fail(`${name}.claim`, `the name of a claim, or a list of 1 to ${MAX_PATH} names that lead to it`)
  const isRequired = name === 'organization'
  if (values === undefined && !isRequired) return { claim: path as string[], values: null }
  if (!isJsonObject(values) || Object.keys(values).length === 0)
    return fail(`${name}.values`, 'an object with a member for each text of the claim')
  const entries = Object.entries(values).map(([text, value]): [string, T] => {
    const parsed = parseValue(value)
    return [
      text,
      parsed === undefined ? fail(`${name}.values[${JSON.stringify(text)}]`, VALUES[name]) : parsed,
    ]
  })
  return { claim: path as string[], values: new Map(entries) }
}

const VALUES: Record<keyof ClaimMapping, string> = {
  organization: 'the UUID of an organization',
  tenant: 'a tenant: 1 to 128 characters',
  scopes: `a list of ${SCOPES.join(', ')}`,
  agents: `a list of 1 to ${MAX_TOKEN_AGENTS} slugs or IDs of agents`,
}

function fail(path: string, allowed: string): never {
  throw new Error(`${path} must be ${allowed}.`)
}

function rejectOthers(others: JsonObject, prefix: string): void {
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw new Error(`${prefix}${unknown} is unknown.`)
}
