import { readFileSync } from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import { CLIENT_CONTRACT, clientContract } from '../../lib/api/client-contract.ts'
import { openApiDocument } from '../../lib/api/openapi.ts'
import { apiRoutes } from '../../lib/api/routes.ts'
import { executionRecord } from '../../lib/api/schemas/execution-record.ts'
import { ERRORS } from '../../lib/core/errors.ts'
import { corsHeaders } from '../../lib/http/cors.ts'

const written = JSON.parse(readFileSync('openapi.json', 'utf8'))

describe('openapi.json', () => {
  it('is up to date with routes.ts (npm run openapi)', () => {
    expect(written).toEqual(JSON.parse(JSON.stringify(openApiDocument())))
  })

  it('has up to date types for the client (npm run openapi)', () => {
    expect(readFileSync(CLIENT_CONTRACT, 'utf8')).toBe(clientContract())
  })

  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator()
    const { valid, errors } = await validator.validate(structuredClone(written))
    expect(errors).toBeUndefined()
    expect(valid).toBe(true)
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

describe('the record of an execution', () => {
  it('is in a table of docs/runs.md', () => {
    const [table = ''] = /^## The record\n[\s\S]*?(?=^## )/m.exec(readFileSync('docs/runs.md', 'utf8')) ?? []
    expect(Object.keys(executionRecord.shape).filter((field) => !table.includes(`\`${field}\``))).toEqual([])
  })
})

describe('error codes', () => {
  it('are in the tables of docs/errors.md', () => {
    const page = readFileSync('docs/errors.md', 'utf8')
    expect(Object.keys(ERRORS).filter((code) => !page.includes(`\`${code}\``))).toEqual([])
  })
})

describe('routes', () => {
  it('are in the table of docs/runs.md', () => {
    const table =
      readFileSync('docs/runs.md', 'utf8')
        .match(/^\|.*`(?:GET|POST|PUT|DELETE) .*$/gm)
        ?.join('\n') ?? ''
    const paths = apiRoutes
      .filter(({ legacy }) => !legacy)
      .map(({ path }) => path.replace(/\{(?:agent|batch|execution|trial|webhook)Id\}/, '{id}'))
    const isListed = (path: string) =>
      [path, `…${path.slice(path.lastIndexOf('/'))}`].some((name) => table.includes(`${name}\``))
    expect(paths.filter((path) => !isListed(path))).toEqual([])
  })
})
