import { isDeepStrictEqual } from 'node:util'
import { type ModelSettings, toDocumentText, type Version } from '../../core/agent.ts'
import { sha256 } from '../../core/json/hash-json.ts'
import type { Json, JsonObject } from '../../core/json/json.ts'
import { parseDocument } from './check-document.ts'
import type { AgentDocument } from './document.ts'

/** What a version has of its document. */
const CONTENT = [
  ...(['slug', 'title', 'description', 'inputSchema', 'outputSchema', 'model', 'fallbacks'] as const),
  ...(['modelSettings', 'tools', 'requireTools', 'context', 'code', 'remote', 'env'] as const),
  ...([
    'instructions',
    'execution',
    'useDynamicLearning',
    'learning',
    'schedules',
    'keys',
    'scorers',
  ] as const),
]
type Content = Pick<Version, (typeof CONTENT)[number]>

export const toContent = (document: AgentDocument): Content => ({
  slug: document.slug,
  title: document.title,
  description: document.description,
  inputSchema: document.input,
  outputSchema: document.output,
  ...toModel(document.model),
  ...toLearning(document),
  ...(document.requireTools && { requireTools: true }),
  ...(document.context && { context: document.context }),
  ...(document.schedules?.length && { schedules: document.schedules }),
  ...(document.keys?.length && { keys: document.keys }),
  ...(document.scorers && { scorers: document.scorers }),
  tools: document.tools as unknown as Json[],
  code: document.code,
  ...(document.remote && { remote: document.remote }),
  env: document.env,
  instructions: document.instructions,
  execution: document.execution,
})

/** Without what is the default. */
function toLearning({ useDynamicLearning, learning = {} }: AgentDocument): Partial<Content> {
  const { feedback, unrated } = learning
  const changed: Content['learning'] = {
    ...(feedback === 'all' && { feedback }),
    ...(unrated === true && { unrated }),
  }
  return {
    ...(useDynamicLearning !== undefined && { useDynamicLearning }),
    ...(Object.keys(changed).length > 0 && { learning: changed }),
  }
}

/** The settings are absent if the document has none. */
function toModel(model: AgentDocument['model']): Pick<Content, 'model' | 'fallbacks' | 'modelSettings'> {
  if (model === null || typeof model === 'string') return { model }
  const { name = null, fallbacks, ...settings } = model
  const hasSettings = Object.keys(settings).length > 0
  return {
    model: name,
    ...(fallbacks && { fallbacks }),
    ...(hasSettings && { modelSettings: settings as ModelSettings }),
  }
}

/**
 * The front matter that publishes the version again, together with its slug and instructions. Comments and defaults
 * that the author wrote down are gone. Null if anything else would differ: a version must not change in silence.
 */
export function toFrontMatter(version: Version): JsonObject | null {
  const { slug, title, description, inputSchema, outputSchema, tools, code, env, execution, keys } = version
  const frontMatter = {
    ...{ title, description: description ?? undefined, input: inputSchema, output: outputSchema },
    model: fromModel(version),
    tools: tools.length > 0 ? tools : undefined,
    ...{ requireTools: version.requireTools, context: version.context },
    ...{ code: code || undefined, remote: version.remote, env: env.length > 0 ? env : undefined, execution },
    ...{ useDynamicLearning: version.useDynamicLearning, learning: version.learning },
    ...{ schedules: version.schedules, scorers: version.scorers },
    keys: keys && Object.fromEntries(keys.map(({ name, from, pointer }) => [name, { [from]: pointer }])),
  }
  // The hash tells whether the document has its slug, or is named by its folder.
  const written = [{ slug, ...frontMatter }, frontMatter].flatMap((each) => {
    const values = toJson(each) as JsonObject
    const { document } = parseDocument(toDocumentText(values, version.instructions), slug)
    const isSame = document && isDeepStrictEqual(contentOf(toContent(document)), contentOf(version))
    return isSame ? [{ values, hash: sha256(JSON.stringify(document)) }] : []
  })
  return (written.find(({ hash }) => hash === version.documentHash) ?? written[0])?.values ?? null
}

function fromModel({ model, fallbacks, modelSettings }: Version): Json | undefined {
  if (!fallbacks && !modelSettings) return model ?? undefined
  return { ...(model !== null && { name: model }), ...(fallbacks && { fallbacks }), ...modelSettings }
}

const contentOf = (content: Content): unknown => toJson(CONTENT.map((name) => content[name] ?? null))

/** As it is stored: without members that are undefined. */
const toJson = (value: object): unknown => JSON.parse(JSON.stringify(value))
