import type { Part } from './part.ts'
import { bundles } from './parts/bundles.ts'
import { footprint } from './parts/footprint.ts'
import { listing } from './parts/listing.ts'
import { overhead } from './parts/overhead.ts'
import { pure } from './parts/pure.ts'
import { readable } from './parts/readable.ts'
import { steps } from './parts/steps.ts'

/** All parts, by their letters in issue 7. */
export const PARTS: Part[] = [overhead, readable, listing, steps, pure, bundles, footprint]
