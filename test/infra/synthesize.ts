import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { FUNCTION_NAMES } from '../../infra/functions/function-settings.ts'
import { readSettings } from '../../infra/settings.ts'
import { ServiceStack } from '../../infra/stack.ts'

const { context: CONTEXT } = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8'))

export type Resource = { Properties: ReturnType<typeof JSON.parse>; DeletionPolicy?: string }

/** The stack's template as `cdk synth` makes it. */
export const synthesize = (context: Record<string, unknown> = {}): Template =>
  withStack(context, (stack) => Template.fromStack(stack))

/** Does something with the stack over empty bundles: what they hold makes no difference to it. */
export function withStack<T>(context: Record<string, unknown>, use: (stack: ServiceStack) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'aes-synth-'))
  try {
    for (const name of FUNCTION_NAMES) {
      mkdirSync(join(folder, 'bundles', name), { recursive: true })
      writeFileSync(join(folder, 'bundles', name, 'index.mjs'), `// ${name}`)
    }
    const app = new App({
      context: { ...CONTEXT, ...context },
      outdir: join(folder, 'out'),
      // Takes seconds, and `npm run synth` does it.
      builtinCloudFormationValidation: false,
    })
    const stack = new ServiceStack(app, 'AgentExecutionService', {
      bundles: join(folder, 'bundles'),
      settings: readSettings(app.node),
    })
    return use(stack)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Resources of a type by their logical ids. */
export const resourcesOf = (template: Template, type: string) =>
  template.findResources(type) as Record<string, Resource>

/** The only resource of a type. @throws an Error when there are none or more */
export function onlyResource(template: Template, type: string): Resource {
  const [resource, ...others] = Object.values(resourcesOf(template, type))
  if (!resource || others.length > 0) throw new Error(`There is not exactly one ${type}.`)
  return resource
}

/** A function's logical id begins with its name in pascal case; so do its role's and its policy's. */
export const prefixOf = (name: string) =>
  name
    .split('-')
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('')

/** The resource of a type that belongs to a function. */
export function ownedResource(template: Template, type: string, name: string): Resource {
  const pattern = new RegExp(`^${prefixOf(name)}(?:Function|Role|Logs)`)
  const owned = Object.entries(resourcesOf(template, type)).filter(([id]) => pattern.test(id))
  const [entry] = owned
  if (!entry || owned.length > 1) throw new Error(`${name} has ${owned.length} of ${type}.`)
  return entry[1]
}
