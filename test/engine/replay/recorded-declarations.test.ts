import { describe, expect, it } from 'vitest'
import { answer, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { contentOf, runReplay } from '../../support/replay/a-replay.ts'
import { originalsOn } from '../../support/replay/originals.ts'
import { serveMcp } from '../../tools/kinds/mcp-server.ts'

const scripted = await startScriptedEngine()
const { engine } = scripted
const { anOriginal, aDraft } = originalsOn(scripted)

const find = (name: string) => ({ name: 'crm_find_customer', input: { name } })
const script = [{ calls: [find('Ada')] }, answer]

/** An original that has called a tool of an MCP server. */
async function anMcpOriginal() {
  const server = await serveMcp()
  const crm = (mcp: object = {}, more: object = {}) => ({
    name: 'crm',
    mcp: { url: server.url, allowedHosts: [server.host], tools: ['find.customer'], ...mcp },
    ...more,
  })
  const made = await anOriginal(script, { tools: [crm()] })
  expect(contentOf(made.steps)[0]?.results).toEqual([{ ok: true, value: 'found Ada' }])
  return { server, crm, ...made }
}

describe('a replay of a run with tools of an MCP server', () => {
  it('declares them as they were, without a request to the server', async () => {
    const { server, original, version, steps } = await anMcpOriginal()
    const before = server.seen.length
    const { execution, steps: replayed } = await runReplay(
      { ...engine, environment: {} },
      original,
      version,
      {
        settings: { models: 'recorded' },
      },
    )
    expect(execution).toMatchObject({ status: 'SUCCESS', output: original.output })
    expect(contentOf(replayed)).toEqual(contentOf(steps))
    const { draft, requests } = await aDraft(version, script, {
      tools: version.tools,
      instructions: 'Differently.',
    })
    const live = await runReplay(engine, original, draft)
    expect(contentOf(live.steps)[0]?.results).toEqual(contentOf(steps)[0]?.results)
    expect(requests[0]?.tools.map(({ name }) => name)).toContain('crm_find_customer')
    const { draft: other } = await aDraft(version, [{ calls: [find('Bob')] }, answer], {
      tools: version.tools,
    })
    const { execution: diverged } = await runReplay(engine, original, other)
    expect(diverged.error).toMatchObject({
      code: 'Diverged',
      tool: 'crm_find_customer',
      input: { name: 'Bob' },
    })
    expect(server.seen).toHaveLength(before)
  })

  it('asks the server of a tool that is live, or whose document names others', async () => {
    const { server, crm, original, version } = await anMcpOriginal()
    const { draft } = await aDraft(version, [{ calls: [find('Bob')] }, answer], {
      tools: [crm({}, { readOnly: true })],
    })
    const settings = { tools: { default: 'recorded' as const, crm: 'live' as const } }
    const { steps } = await runReplay(engine, original, draft, { settings })
    expect(contentOf(steps)[0]?.results).toEqual([{ ok: true, value: 'found Bob' }])
    const before = server.seen.length
    const more = crm({ tools: ['find.customer', 'structured'] })
    const { draft: wider, requests } = await aDraft(version, script, { tools: [more] })
    const { execution } = await runReplay(engine, original, wider)
    expect(execution.status).toBe('SUCCESS')
    expect(requests[0]?.tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['crm_find_customer', 'crm_structured']),
    )
    const listed = server.seen.slice(before).map(({ method }) => method)
    expect(listed.length).toBeGreaterThan(0)
    expect(listed).not.toContain('find.customer')
  })

  it('asks the server if the original has kept none', async () => {
    const { server, original, version } = await anMcpOriginal()
    const before = server.seen.length
    const { declarations: _, ...others } = engine
    const { execution } = await runReplay({ ...others }, original, version, {
      settings: { models: 'recorded' },
    })
    expect(execution.status).toBe('SUCCESS')
    expect(server.seen.length).toBeGreaterThan(before)
  })
})
