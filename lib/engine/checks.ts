import { LRUCache } from 'lru-cache'
import type { Version } from '../core/agent.ts'
import { type Check, compileCheck } from '../schema/validate.ts'

const compiled = new LRUCache<string, Check>({ max: 500 })

/** The check of a version's input or output, compiled once a process. */
export function checkOf(version: Version, side: 'input' | 'output'): Check {
  const key = `${version.id}/${side}`
  const known = compiled.get(key)
  if (known) return known
  const check = compileCheck(side === 'input' ? version.inputSchema : version.outputSchema)
  compiled.set(key, check)
  return check
}
