import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

/** A picture that is served. `name`: of its file. Sizes in pixels. */
export type DocsPicture = { name: string; svg: string; width: number; height: number }

/**
 * The pictures of the documentation by their path, such as `console/run.png`, each as an SVG that contains it:
 * API Gateway would damage a PNG in a buffered response.
 * @param folder `docs`
 */
export async function readPictures(folder: string): Promise<Map<string, DocsPicture>> {
  const names = (await readdir(join(folder, 'console'))).filter((name) => name.endsWith('.png'))
  const pictures = await Promise.all(
    names.map(async (name) => {
      const png = await readFile(join(folder, 'console', name))
      return [`console/${name}`, toPicture(name, png)] as const
    }),
  )
  return new Map(pictures)
}

function toPicture(file: string, png: Buffer): DocsPicture {
  // The first chunk of a PNG (https://www.w3.org/TR/png-3/#11IHDR).
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)]
  const image = `<image width="${width}" height="${height}" href="data:image/png;base64,${png.toString('base64')}"/>`
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${image}</svg>`
  return { name: withHash(`docs-picture-${basename(file, '.png')}`, '.svg', svg), svg, width, height }
}

/** The name of a file that caches may keep. */
export function withHash(name: string, extension: string, content: string): string {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 8)
  return `${name}-${hash.toUpperCase()}${extension}`
}
