import { ERRORS } from '../core/errors.ts'
import type { Json, JsonObject } from '../core/json/json.ts'
import { toTypes } from '../schema/types/to-types.ts'
import { writeTypeScript } from '../schema/types/write-typescript.ts'
import { openApiDocument } from './openapi.ts'
import { type OperationName, operations } from './routes.ts'

/** Where the types are written for the client, which is a package of its own. */
export const CLIENT_CONTRACT = 'clients/typescript/src/contract.ts'

/** Query parameters that have a type, without those that the client sets itself. */
type ParametersType = { name: string; operation: OperationName; without: string[] }

const PARAMETERS: ParametersType[] = [
  { name: 'RunParameters', operation: 'run-agent', without: ['execMode', 'deltas'] },
  { name: 'BatchParameters', operation: 'start-batch', without: ['execMode', 'deltas'] },
  { name: 'BatchFilters', operation: 'list-batches', without: ['limit', 'cursor'] },
  { name: 'TrialFilters', operation: 'list-trials', without: ['limit', 'cursor'] },
  { name: 'TrialItemFilters', operation: 'list-trial-items', without: ['limit', 'cursor'] },
  { name: 'ExecutionParameters', operation: 'get-execution', without: [] },
  { name: 'ExecutionFilters', operation: 'list-executions', without: ['limit', 'cursor', 'fields'] },
  { name: 'UsageParameters', operation: 'get-usage', without: ['cursor'] },
  { name: 'ScoreParameters', operation: 'get-scores', without: ['cursor'] },
  { name: 'AgreementParameters', operation: 'get-agreement', without: [] },
  { name: 'AuditFilters', operation: 'list-audit-entries', without: ['limit', 'cursor'] },
  { name: 'AgentFilters', operation: 'list-agents', without: ['limit', 'cursor'] },
]

type Parameter = { in: string; name: string; required?: boolean; schema: JsonObject }
type Document = {
  components: { schemas: Record<string, Json> }
  paths: Record<string, Record<string, { parameters?: Parameter[] }>>
}

/** The records, parameters and error codes of the API in TypeScript, from the OpenAPI document. */
export function clientContract(): string {
  const document = JSON.parse(
    JSON.stringify(openApiDocument()).replaceAll('#/components/schemas/', '#/$defs/'),
  ) as Document
  const parameters = PARAMETERS.map((type) => [type.name, toQuerySchema(document, type)])
  const { SentEvent: _, ...records } = document.components.schemas
  const $defs: Record<string, Json> = { ...records, ...Object.fromEntries(parameters) }
  const names = Object.keys($defs).sort()
  const root = { $defs, anyOf: names.map((name) => ({ $ref: `#/$defs/${name}` })) }
  const [, ...types] = toTypes({ type: 'object', ...root }, { name: '' })
  const byName = types.sort((a, b) => a.name.localeCompare(b.name))
  const codes = Object.keys(ERRORS).map((code) => `\n  | '${code}'`)
  return [
    '// Written by `npm run openapi`.\n',
    writeTypeScript(byName),
    `/** The \`code\` of an error of the service. */\nexport type ErrorCode =${codes.join('')}\n`,
  ].join('\n')
}

function toQuerySchema({ paths }: Document, { operation, without }: ParametersType): JsonObject {
  const { path, method } = operations[operation]
  const all = paths[path]?.[method.toLowerCase()]?.parameters ?? []
  const query = all.filter((parameter) => parameter.in === 'query' && !without.includes(parameter.name))
  const properties = Object.fromEntries(query.map((parameter) => [parameter.name, parameter.schema]))
  return { type: 'object', properties, additionalProperties: false }
}
