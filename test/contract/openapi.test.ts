import { readFileSync } from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import { openApiDocument } from '../../lib/contract/openapi.ts'
import { executionRecord } from '../../lib/contract/records/execution.ts'
import { apiRoutes, getOperation } from '../../lib/contract/routes.ts'
import { ERRORS } from '../../lib/core/errors.ts'
import { corsHeaders } from '../../lib/http/cors.ts'

const written = JSON.parse(JSON.stringify(openApiDocument()))

describe('the OpenAPI document', () => {
  it('has these operations', async () => {
    await expect(`${apiRoutes.map(describeOperation).join('\n')}\n`).toMatchFileSnapshot('operations.txt')
  })

  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator()
    expect(await validator.validate(structuredClone(written))).toEqual({ valid: true })
    expect(validator.version).toBe('3.1')
  })

  it('declares integers as such: a number with an enum becomes Java that does not compile', () => {
    const enums: { type: string; enum: unknown[] }[] = []
    JSON.stringify(written, (_, value) => {
      if (Array.isArray(value?.enum)) enums.push(value)
      return value
    })
    const ofIntegers = enums.filter(({ enum: values }) => values.every(Number.isInteger))
    expect(ofIntegers.map(({ type }) => type)).toEqual(['integer', 'integer'])
  })

  it('describes exactly the routes of the API', () => {
    const described = Object.entries(written.paths).flatMap(([path, methods]) =>
      Object.keys(methods as object).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(described.sort()).toEqual(apiRoutes.map(({ method, path }) => `${method} ${path}`).sort())
  })

  it('requires a token for every operation except the health check, documents of the service and callbacks', () => {
    expect(written.security).toEqual([{ token: [] }])
    const publicRoutes = apiRoutes.filter(
      ({ method, path }) => written.paths[path][method.toLowerCase()].security?.length === 0,
    )
    expect(publicRoutes.map(({ path }) => path)).toEqual([
      '/v1/healthcheck',
      '/v1/openapi.json',
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-protected-resource/v1/mcp',
      '/v1/callbacks/{executionId}/{name}/{mac}',
    ])
  })

  it('describes all headers that pages of other origins can read', () => {
    const exposed = corsHeaders('*', 'https://app.example')['Access-Control-Expose-Headers']?.split(', ')
    // A response to a method that the path does not have: no operation.
    expect(Object.keys(written.components.headers).sort()).toEqual(
      exposed?.filter((name) => name !== 'Allow').sort(),
    )
  })
})

type Described = {
  description: string
  content?: Record<string, { schema: { $ref?: string; items?: { $ref?: string } } }>
}

/** One line for reviews: method, path, scope, parameters, bodies, errors. */
function describeOperation({ method, path, operation: name, legacy }: (typeof apiRoutes)[number]): string {
  const { parameters = [], requestBody, responses } = written.paths[path][method.toLowerCase()]
  if (legacy) return `${method} ${path} = ${name}`
  const operation = getOperation(name)
  const typeOf = ({ content = {} }: Described) =>
    Object.entries(content).map(([type, { schema }]) => {
      const list = schema.items?.$ref
      return (list ?? schema.$ref)?.replace(/^.*\//, '').concat(list ? '[]' : '') ?? type
    })
  const names = parameters
    .filter(({ in: place }: { in: string }) => place !== 'path')
    .map(({ name, required }: { name: string; required?: boolean }) => `${name}${required ? '' : '?'}`)
  const body = requestBody ? ` < ${typeOf(requestBody)}` : ''
  const [good, bad] = [/^[23]/, /^[45]/].map((kind) =>
    Object.entries<Described>(responses).filter(([status]) => kind.test(status)),
  )
  const results = good?.map(([status, response]) => [status, ...typeOf(response)].join(' '))
  const errors = bad?.map(([, { description }]) => description)
  const scope = operation.public
    ? 'public'
    : `${[operation.scope].flat()}${operation.allTenants ? ', all tenants' : ''}`
  return `${method} ${path} (${scope})${names.length > 0 ? ` ?${names}` : ''}${body} > ${results?.join(' | ')} ! ${errors?.join(', ')}`
}

describe('the documentation', () => {
  const runs = readFileSync('docs/runs.md', 'utf8')

  it('has the fields of an execution in a table', () => {
    const [table = ''] = /^## The record\n[\s\S]*?(?=^## )/m.exec(runs) ?? []
    expect(Object.keys(executionRecord.shape).filter((field) => !table.includes(`\`${field}\``))).toEqual([])
  })

  it('has error codes in a table, in the row of their status', () => {
    const rows = readFileSync('docs/errors.md', 'utf8').split('\n')
    const isListed = ([code, { status }]: [string, { status: number }]) =>
      rows.some((row) => row.split('|')[1]?.includes(String(status)) && row.includes(`\`${code}\``))
    expect(Object.entries(ERRORS).filter((error) => !isListed(error))).toEqual([])
  })

  it('has routes in a table', () => {
    const table = runs.match(/^\|.*`(?:GET|POST|PUT|DELETE) .*$/gm)?.join('\n') ?? ''
    const paths = apiRoutes
      .filter(({ legacy }) => !legacy)
      .map(({ path }) => path.replace(/\{(?:agent|batch|execution|trial|webhook)Id\}/, '{id}'))
    const isListed = (path: string) =>
      [path, `…${path.slice(path.lastIndexOf('/'))}`].some((name) => table.includes(`${name}\``))
    expect(paths.filter((path) => !isListed(path))).toEqual([])
  })
})
