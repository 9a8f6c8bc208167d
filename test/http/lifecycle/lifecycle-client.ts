import { expect } from 'vitest'
import { newOrganization, type TestOrganization } from '../../support/engine/organization.ts'
import type { ApiResponse } from '../../support/service/client.ts'

export type Lifecycle = TestOrganization & {
  agent: (slug: string) => Promise<ApiResponse['json']>
  versions: (slug: string) => Promise<ApiResponse['json'][]>
  /** Publishes a code agent that returns `{ said }`. Returns the version. */
  publishSaying: (slug: string, said: string, options?: object) => Promise<ApiResponse['json']>
  /** Publishes a model agent with these instructions, which is cheaper: no code is loaded. Returns the version. */
  publishText: (slug: string, instructions: string, options?: object) => Promise<ApiResponse['json']>
  post: (path: string, body?: unknown) => Promise<ApiResponse>
}

export const documentOf = (slug: string, extra = '') => `---
title: Says something
slug: ${slug}
code: true
input: { name: { type: string } }
output: { said: { type: string }, name: { type: string } }
${extra}---
`
/** The same without code: the instructions follow. */
export const modelDocumentOf = (slug: string, extra = '') =>
  documentOf(slug, extra).replace('code: true\n', '')
export const codeOf = (said: string) =>
  `export default ({ name }) => ({ said: ${JSON.stringify(said)}, name });\n`

/** Code that runs until the file exists whose path it gets as `name`. */
export const UNTIL_FILE_EXISTS = `import { existsSync } from 'node:fs'
export default async ({ name }) => {
  while (!existsSync(name)) await new Promise((resolve) => setTimeout(resolve, 20))
  return { said: 'done', name }
}
`

/** A new organization, with helpers that publish and change agents over HTTP. */
export async function newLifecycle(): Promise<Lifecycle> {
  const org = await newOrganization()
  const post: Lifecycle['post'] = (path, body) => org.call('POST', path, body === undefined ? {} : { body })
  const publish = async (body: object) => {
    const response = await post('/v1/agents', body)
    expect([200, 201], response.text).toContain(response.status)
    return response.json
  }
  return {
    ...org,
    post,
    agent: async (slug) => (await org.call('GET', `/v1/agents/${slug}`)).json,
    versions: async (slug) => (await org.call('GET', `/v1/agents/${slug}/versions`)).json,
    publishSaying: (slug, said, options = {}) =>
      publish({ document: documentOf(slug), code: codeOf(said), ...options }),
    publishText: (slug, instructions, options = {}) =>
      publish({ document: modelDocumentOf(slug) + instructions, ...options }),
  }
}
