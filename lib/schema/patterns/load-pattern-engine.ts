import type { JsonObject } from '../../core/json/json.ts'
import { isSimplePattern, setPatternEngine } from './compile-pattern.ts'
import { listPatterns } from './schema-patterns.ts'

/** In a separate file, because the console compiles no patterns and its bundle would contain the engine. */
export async function loadPatternEngine(): Promise<void> {
  const { compileRe2 } = await import('./re2.ts')
  setPatternEngine(compileRe2)
}

/** Loads the pattern engine if declared schemas need it. To be called before the schemas are compiled. */
export async function loadPatterns(...declared: JsonObject[]): Promise<void> {
  const patterns = declared.flatMap(listPatterns)
  if (!patterns.every(({ pattern }) => isSimplePattern(pattern))) await loadPatternEngine()
}
