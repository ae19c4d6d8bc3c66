/**
 * Read elements of typed arrays at indices that the caller guarantees. There is one function for each kind of array,
 * because an engine compiles a function that has seen only one kind to a single load. Then `?? 0`, which the compiler
 * requires, costs nothing.
 */
export const byteAt = (array: Uint8Array, index: number): number => array[index] ?? 0;

export const shortAt = (array: Uint16Array, index: number): number => array[index] ?? 0;

export const intAt = (array: Int32Array, index: number): number => array[index] ?? 0;
