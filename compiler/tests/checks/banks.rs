//! Bank conflicts.

use crate::harness::{check, kernel, warp};
use expect_test::expect;

/// A 32×32 transpose with this tile type and these two accesses to it.
fn transpose(tile: &str, store: &str, load: &str) -> String {
    kernel(
        "block = [32, 8], grid = [input.cols().div_ceil(32), input.rows().div_ceil(32)],
         requires(output.rows() == input.cols(), output.cols() == input.rows())",
        "input: &Matrix<f32>, output: &mut Matrix<f32>",
        &format!(
            "let mut tile = {tile}::new();
            let (row0, col) = (block_y() * 32 + thread_y(), block_x() * 32 + thread_x());
            for k in (0..32).step_by(8) {{
                if row0 + k < input.rows() && col < input.cols() {{
                    {store} = input[[row0 + k, col]];
                }}
            }}
            sync_threads();
            let (row0, col) = (block_x() * 32 + thread_y(), block_y() * 32 + thread_x());
            for k in (0..32).step_by(8) {{
                if row0 + k < output.rows() && col < output.cols() {{
                    output[[row0 + k, col]] = {load};
                }}
            }}"
        ),
    )
}

#[test]
fn a_column_of_a_row_major_tile() {
    check(
        &transpose(
            "Shared::<[[f32; 32]; 32]>",
            "tile[thread_y() + k][thread_x()]",
            "tile[thread_x()][thread_y() + k]",
        ),
        expect![[r#"
            error: shared-memory bank conflict: 32 wavefronts where 1 is enough [TP0101]
            note: lanes 0, 1, 2, … 31 of warp 0 read words 0, 32, 64, … 992: 32 words of bank 0
            help: `Shared<[[f32; 32]; 32], Pad<1>>` makes this 1, and the store on line 8 stays at 1 (4,224 bytes)
            help: `Shared<[[f32; 32]; 32], Xor<1>>` likewise, in 4,096 bytes
              at `tile[thread_x()][thread_y() + k]`
        "#]],
    );
}

#[test]
fn padded_and_swizzled_tiles_are_clean() {
    let (store, load) = ("tile[thread_y() + k][thread_x()]", "tile[thread_x()][thread_y() + k]");
    check(
        &transpose("Shared::<[[f32; 32]; 32], Pad<1>>", store, load),
        expect![[r#"
        read `input[[row0 + k, col]]`: 32 × 4 B, 128/128 sectors
        write `tile[thread_y() + k][thread_x()]`: 32 × 4 B, 32/32 wavefronts
        read `tile[thread_x()][thread_y() + k]`: 32 × 4 B, 32/32 wavefronts
        write `output[[row0 + k, col]]`: 32 × 4 B, 128/128 sectors
        shared: 4224 bytes
        launch: output.rows() == input.cols()
        launch: output.cols() == input.rows()
    "#]],
    );
    check(
        &transpose("Shared::<[[f32; 32]; 32], Pad<3>>", store, load),
        expect![[r#"
        read `input[[row0 + k, col]]`: 32 × 4 B, 128/128 sectors
        write `tile[thread_y() + k][thread_x()]`: 32 × 4 B, 32/32 wavefronts
        read `tile[thread_x()][thread_y() + k]`: 32 × 4 B, 32/32 wavefronts
        write `output[[row0 + k, col]]`: 32 × 4 B, 128/128 sectors
        shared: 4480 bytes
        launch: output.rows() == input.cols()
        launch: output.cols() == input.rows()
    "#]],
    );
    check(
        &transpose("Shared::<[[f32; 32]; 32], Xor<1>>", store, load),
        expect![[r#"
        read `input[[row0 + k, col]]`: 32 × 4 B, 128/128 sectors
        write `tile[thread_y() + k][thread_x()]`: 32 × 4 B, 32/32 wavefronts
        read `tile[thread_x()][thread_y() + k]`: 32 × 4 B, 32/32 wavefronts
        write `output[[row0 + k, col]]`: 32 × 4 B, 128/128 sectors
        shared: 4096 bytes
        launch: output.rows() == input.cols()
        launch: output.cols() == input.rows()
    "#]],
    );
    check(
        &transpose("Shared::<[[f32; 32]; 32], Swizzle<5, 0, 5>>", store, load),
        expect![[r#"
        read `input[[row0 + k, col]]`: 32 × 4 B, 128/128 sectors
        write `tile[thread_y() + k][thread_x()]`: 32 × 4 B, 32/32 wavefronts
        read `tile[thread_x()][thread_y() + k]`: 32 × 4 B, 32/32 wavefronts
        write `output[[row0 + k, col]]`: 32 × 4 B, 128/128 sectors
        shared: 4096 bytes
        launch: output.rows() == input.cols()
        launch: output.cols() == input.rows()
    "#]],
    );
}

#[test]
fn layouts_that_do_not_help() {
    let (store, load) = ("tile[thread_y() + k][thread_x()]", "tile[thread_x()][thread_y() + k]");
    check(
        &transpose("Shared::<[[f32; 32]; 32], Pad<2>>", store, load),
        expect![[r#"
            error: shared-memory bank conflict: 2 wavefronts where 1 is enough [TP0101]
            note: lanes 0, 16 of warp 0 read words 0, 544: 2 words of bank 0
            help: `Shared<[[f32; 32]; 32], Pad<1>>` makes this 1, and the store on line 8 stays at 1 (4,224 bytes)
            help: `Shared<[[f32; 32]; 32], Xor<1>>` likewise, in 4,096 bytes
              at `tile[thread_x()][thread_y() + k]`
        "#]],
    );
    check(
        &transpose("Shared::<[[f32; 32]; 32], Xor<4>>", store, load),
        expect![[r#"
            error: shared-memory bank conflict: 4 wavefronts where 1 is enough [TP0101]
            note: lanes 0, 8, 16, 24 of warp 0 read words 0, 256, 512, 768: 4 words of bank 0
            help: `Shared<[[f32; 32]; 32], Pad<1>>` makes this 1, and the store on line 8 stays at 1 (4,224 bytes)
            help: `Shared<[[f32; 32]; 32], Xor<1>>` likewise, in 4,096 bytes
              at `tile[thread_x()][thread_y() + k]`
        "#]],
    );
    check(
        &transpose("Shared::<[[f32; 32]; 32], Swizzle<2, 0, 5>>", store, load),
        expect![[r#"
            error: shared-memory bank conflict: 8 wavefronts where 1 is enough [TP0101]
            note: lanes 0, 4, 8, … 28 of warp 0 read words 0, 128, 256, … 896: 8 words of bank 0
            help: `Shared<[[f32; 32]; 32], Pad<1>>` makes this 1, and the store on line 8 stays at 1 (4,224 bytes)
            help: `Shared<[[f32; 32]; 32], Xor<1>>` likewise, in 4,096 bytes
              at `tile[thread_x()][thread_y() + k]`
        "#]],
    );
}

#[test]
fn a_swizzle_by_hand_is_clean() {
    check(
        &transpose(
            "Shared::<[[f32; 32]; 32]>",
            "tile[thread_y() + k][thread_x() ^ (thread_y() + k)]",
            "tile[thread_x()][(thread_y() + k) ^ thread_x()]",
        ),
        expect![[r#"
            read `input[[row0 + k, col]]`: 32 × 4 B, 128/128 sectors
            write `tile[thread_y() + k][thread_x() ^ (thread_y() + k)]`: 32 × 4 B, 32/32 wavefronts
            read `tile[thread_x()][(thread_y() + k) ^ thread_x()]`: 32 × 4 B, 32/32 wavefronts
            write `output[[row0 + k, col]]`: 32 × 4 B, 128/128 sectors
            shared: 4096 bytes
            launch: output.rows() == input.cols()
            launch: output.cols() == input.rows()
        "#]],
    );
}

#[test]
fn the_store_conflicts_instead() {
    check(
        &transpose(
            "Shared::<[[f32; 32]; 32]>",
            "tile[thread_x()][thread_y() + k]",
            "tile[thread_y() + k][thread_x()]",
        ),
        expect![[r#"
            error: shared-memory bank conflict: 32 wavefronts where 1 is enough [TP0101]
            note: lanes 0, 1, 2, … 31 of warp 0 write words 0, 32, 64, … 992: 32 words of bank 0
            help: `Shared<[[f32; 32]; 32], Pad<1>>` makes this 1, and the load on line 15 stays at 1 (4,224 bytes)
            help: `Shared<[[f32; 32]; 32], Xor<1>>` likewise, in 4,096 bytes
              at `tile[thread_x()][thread_y() + k]`
        "#]],
    );
}

/// A column, a row, both diagonals and two half rows a row: what mends one of them breaks another.
#[test]
fn no_layout_mends_it() {
    check(
        &warp(
            "let mut tile = Shared::<[[f32; 32]; 32]>::new();
            tile[thread_x()][0] = input[[thread_x()]];
            sync_threads();
            tile[0][thread_x()] = 0.0;
            sync_threads();
            tile[thread_x()][thread_x()] = 1.0;
            sync_threads();
            tile[31 - thread_x()][thread_x()] = 1.0;
            sync_threads();
            tile[thread_x() / 2][thread_x() % 2 * 16] = 2.0;",
        ),
        expect![[r#"
            error: shared-memory bank conflict: 32 wavefronts where 1 is enough [TP0101]
            note: lanes 0, 1, 2, … 31 of warp 0 write words 0, 32, 64, … 992: 32 words of bank 0
            note: no padding up to 32 elements and no swizzle of `Shared<[[f32; 32]; 32]>` makes every access to it conflict-free
            help: change which thread accesses which element, or accept the cost: `#[budget(bank_conflict = 31, because = "…")]` on the statement
              at `tile[thread_x()][0]`
            error: shared-memory bank conflict: 16 wavefronts where 1 is enough [TP0101]
            note: lanes 0, 2, 4, … 30 of warp 0 write words 0, 32, 64, … 480: 16 words of bank 0
            note: no padding up to 32 elements and no swizzle of `Shared<[[f32; 32]; 32]>` makes every access to it conflict-free
            help: change which thread accesses which element, or accept the cost: `#[budget(bank_conflict = 15, because = "…")]` on the statement
              at `tile[thread_x() / 2][thread_x() % 2 * 16]`
        "#]],
    );
}

/// Which stage of the tile is used follows from the iteration of a loop whose length is not known.
#[test]
fn stages_of_a_loop_of_unknown_length() {
    let stages = |tile: &str| {
        kernel(
            "block = [32], grid = [1], requires(input.cols() >= 32, output.len() >= 32)",
            "input: &Matrix<f32>, output: &mut Tensor<f32, 1>",
            &format!(
                "let mut tile = {tile}::new();
                let mut sum = 0.0;
                for k in 0..input.rows() {{
                    tile[k % 3][thread_x()][0] = input[[k, thread_x()]];
                    sync_threads();
                    sum += tile[k % 3][31 - thread_x()][0];
                    sync_threads();
                }}
                output[[thread_x()]] = sum;"
            ),
        )
    };
    check(
        &stages("Shared::<[[[f32; 33]; 32]; 3]>"),
        expect![[r#"
        read `input[[k, thread_x()]]`: 1 × 4 B, 4/4 sectors
        write `tile[k % 3][thread_x()][0]`: 1 × 4 B, 1/1 wavefronts
        read `tile[k % 3][31 - thread_x()][0]`: 1 × 4 B, 1/1 wavefronts
        write `output[[thread_x()]]`: 1 × 4 B, 4/4 sectors
        shared: 12672 bytes
        launch: input.cols() >= 32
        launch: output.len() >= 32
    "#]],
    );
    check(
        &stages("Shared::<[[[f32; 4]; 32]; 3]>"),
        expect![[r#"
            error: shared-memory bank conflict: 4 wavefronts where 1 is enough [TP0101]
            note: lanes 0, 8, 16, 24 of warp 0 write words 0, 32, 64, 96: 4 words of bank 0
            note: likewise the load on line 8
            help: `Shared<[[[f32; 4]; 32]; 3], Pad<1>>` makes this 1, and the load on line 8 goes from 4 to 1 (1,920 bytes)
            help: `Shared<[[[f32; 4]; 32]; 3], Swizzle<2, 0, 5>>` likewise, in 1,536 bytes
              at `tile[k % 3][thread_x()][0]`
        "#]],
    );
}

/// A swizzle over the iteration: each of its eight values is tried.
#[test]
fn swizzles_by_the_iteration() {
    check(
        &kernel(
            "block = [8, 4], grid = [1], requires(output.cols() >= 8)",
            "n: usize, output: &mut Matrix<f32>",
            "let mut tile = Shared::<[[f32; 8]; 32]>::new();
            for k in 0..n {
                tile[thread_y() * 8 + (k & 7)][thread_x() ^ (k & 7)] = 1.0;
            }",
        ),
        expect![[r#"
            error: shared-memory bank conflict: 4 wavefronts where 1 is enough [TP0101]
            note: lanes 0, 8, 16, 24 of warp 0 write words 0, 64, 128, 192: 4 words of bank 0
            help: `Shared<[[f32; 8]; 32], Pad<1>>` makes this 1 (1,152 bytes)
            help: `Shared<[[f32; 8]; 32], Swizzle<2, 3, 3>>` likewise, in 1,024 bytes
              at `tile[thread_y() * 8 + (k & 7)][thread_x() ^ (k & 7)]`
        "#]],
    );
}

/// Lanes that the data choose: taking lanes away can leave a wide load fewer groups.
#[test]
fn lanes_that_data_choose() {
    let guarded = |width: u32| {
        warp(&format!(
            "let mut tile = Shared::<[f32; 512]>::new();
            for i in (0..512).step_by(32) {{ tile[i + thread_x()] = 0.0; }}
            sync_threads();
            if input[[thread_x()]] > 0.0 {{
                let v = tile.read::<{width}>([thread_x() * {width}]);
                output[[thread_x()]] = v[0];
            }}"
        ))
    };
    check(
        &guarded(1),
        expect![[r#"
            write `tile[i + thread_x()]`: 16 × 4 B, 16/16 wavefronts
            read `input[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            read `tile.read::<1>([thread_x() * 1])`: 1 × 4 B, 1/1 wavefronts
            write `output[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            shared: 2048 bytes
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
    check(
        &guarded(4),
        expect![[r#"
            error: shared-memory bank conflict: 4 wavefronts where 2 are enough [TP0101]
            note: which lanes of warp 0 are active is decided at run time; without every second lane the load could be served in 2 wavefronts
            note: no padding up to 32 elements and no swizzle of `Shared<[f32; 512]>` makes every access to it conflict-free
            help: change which thread accesses which element, or accept the cost: `#[budget(bank_conflict = 2, because = "…")]` on the statement
              at `tile.read::<4>([thread_x() * 4])`
        "#]],
    );
    check(
        &guarded(2),
        expect![[r#"
            error: shared-memory bank conflict: 2 wavefronts where 1 is enough [TP0101]
            note: which lanes of warp 0 are active is decided at run time; without every second lane the load could be served in 1 wavefront
            note: no padding up to 32 elements and no swizzle of `Shared<[f32; 512]>` makes every access to it conflict-free
            help: change which thread accesses which element, or accept the cost: `#[budget(bank_conflict = 1, because = "…")]` on the statement
              at `tile.read::<2>([thread_x() * 2])`
        "#]],
    );
}

#[test]
fn indices_from_memory() {
    check(
        &kernel(
            "block = [32], grid = [1], requires(bins.len() >= 32)",
            "bins: &Tensor<u8, 1>",
            "let mut tile = Shared::<[u32; 256]>::new();
            #[trust(race, because = \"no two bins are the same\")]
            tile[bins[[thread_x()]] as usize] = 1;",
        ),
        expect![[r#"
            error: shared-memory bank conflicts cannot be ruled out here [TP0101]
            note: the place depends on a value of `bins`, and may differ from lane to lane
            help: take responsibility for the cost: `#[budget(bank_conflict = 31, because = "…")]` on the statement
              at `tile[bins[[thread_x()]] as usize]`
        "#]],
    );
    check(
        &kernel(
            "block = [32], grid = [1], requires(bins.len() >= 32)",
            "bins: &Tensor<u8, 1>",
            "let mut tile = Shared::<[u32; 256]>::new();
            #[trust(race, because = \"no two bins are the same\")]
            #[budget(bank_conflict = 31, because = \"bins are spread by the data\")]
            tile[bins[[thread_x()]] as usize] = 1;",
        ),
        expect![[r#"
            read `bins[[thread_x()]]`: 1 × 1 B, 1/1 sectors
            write `tile[bins[[thread_x()]] as usize]`: 1 × 4 B, 0/0 wavefronts; cost budgeted: bins are spread by the data
            shared: 1024 bytes
            launch: bins.len() >= 32
            granted: `tile[bins[[thread_x()]] as usize]` (line 6) does not race: no two bins are the same
        "#]],
    );
    // The same address for all lanes is a broadcast, whatever it is.
    check(
        &kernel(
            "block = [32], grid = [1], requires(bins.len() >= 1, output.len() >= 32)",
            "bins: &Tensor<u8, 1>, output: &mut Tensor<u32, 1>",
            "let mut tile = Shared::<[u32; 256]>::new();
            let bin = bins[[0]] as usize;
            if thread_x() == 0 { tile[bin] = 1; }
            sync_threads();
            output[[thread_x()]] = tile[bin];",
        ),
        expect![[r#"
            read `bins[[0]]`: 1 × 1 B, 1/1 sectors
            write `tile[bin]`: 1 × 4 B, 1/1 wavefronts
            read `tile[bin]`: 1 × 4 B, 1/1 wavefronts
            write `output[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            shared: 1024 bytes
            launch: bins.len() >= 1
            launch: output.len() >= 32
        "#]],
    );
}
/// A stage that an argument chooses moves all lanes alike, also under a swizzle that looks at its bits.
#[test]
fn stages_of_an_argument() {
    let chosen = |tile: &str, budget: &str| {
        kernel(
            "block = [32], grid = [1], requires(stage < 4, output.len() >= 32)",
            "stage: usize, output: &mut Tensor<f32, 1>",
            &format!(
                "let tile = {tile}::new();
                #[trust(initialised, because = \"the subject is its banks\")]
                {budget}
                output[[thread_x()]] = tile[stage][thread_x()][0];"
            ),
        )
    };
    check(
        &chosen("Shared::<[[[f32; 32]; 32]; 4], Xor<1>>", ""),
        expect![[r#"
            read `tile[stage][thread_x()][0]`: 1 × 4 B, 1/1 wavefronts
            write `output[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            shared: 16384 bytes
            launch: stage < 4
            launch: output.len() >= 32
            granted: `tile[stage][thread_x()][0]` (line 6) reads what has been written: the subject is its banks
        "#]],
    );
    // The swizzle turns four columns by the row's upper bits, and all of them by the stage.
    let budget = "#[budget(bank_conflict = 3, because = \"a stage too many\")]";
    check(
        &chosen("Shared::<[[[f32; 64]; 32]; 4], Swizzle<5, 0, 8>>", budget),
        expect![[r#"
            read `tile[stage][thread_x()][0]`: 1 × 4 B, 4/1 wavefronts, worst excess 3; cost budgeted: a stage too many
            write `output[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            shared: 32768 bytes
            launch: stage < 4
            launch: output.len() >= 32
            granted: `tile[stage][thread_x()][0]` (line 6) reads what has been written: the subject is its banks
        "#]],
    );
    // A stage of 768 elements carries into the bits of the row.
    check(
        &chosen("Shared::<[[[f32; 24]; 32]; 4], Swizzle<3, 0, 7>>", ""),
        expect![[r#"
            error: shared-memory bank conflict: 2 wavefronts where 1 is enough [TP0101]
            note: lanes 0, 4 of warp 0 read words 0, 96: 2 words of bank 0
            help: `Shared<[[[f32; 24]; 32]; 4], Pad<1>>` makes this 1 (12,800 bytes)
            help: `Shared<[[[f32; 24]; 32]; 4], Swizzle<3, 0, 5>>` likewise, in 12,288 bytes
              at `tile[stage][thread_x()][0]`
        "#]],
    );
}

/// A guard that picks lanes by a run-time number is no edge: of an 8-byte load, the lanes that are left may merge.
#[test]
fn guards_that_are_no_edges() {
    let guarded = |guard: &str| {
        kernel(
            "block = [32], grid = [1], requires(output.len() >= 32)",
            "n: usize, output: &mut Tensor<f64, 1>",
            &format!(
                "let mut tile = Shared::<[f64; 32]>::new();
                tile[thread_x()] = 1.0;
                sync_threads();
                if {guard} {{ output[[thread_x()]] = tile[thread_x()]; }}"
            ),
        )
    };
    check(
        &guarded("thread_x() < n"),
        expect![[r#"
        write `tile[thread_x()]`: 1 × 8 B, 2/2 wavefronts
        read `tile[thread_x()]`: 1 × 8 B, 2/2 wavefronts
        write `output[[thread_x()]]`: 1 × 8 B, 8/8 sectors
        shared: 256 bytes
        launch: output.len() >= 32
    "#]],
    );
    check(
        &guarded("thread_x() % 2 < n"),
        expect![[r#"
            error: shared-memory bank conflict: 2 wavefronts where 1 is enough [TP0101]
            note: which lanes of warp 0 are active is decided at run time; without every second lane the load could be served in 1 wavefront
            note: no padding up to 32 elements and no swizzle of `Shared<[f64; 32]>` makes every access to it conflict-free
            help: change which thread accesses which element, or accept the cost: `#[budget(bank_conflict = 1, because = "…")]` on the statement
              at `tile[thread_x()]`
        "#]],
    );
}
